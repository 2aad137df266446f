# SPDX-License-Identifier: GPL-3.0-or-later
"""Modifiers that make vertices before ours, as Mirror does: which we take, and their settings.

These name the mesh that comes of them, so that no frame has to evaluate it to know whether it is
the one that was prepared. What is said of a modifier here looks at no other.
"""

from collections.abc import Iterable
from typing import Any

import bpy

from . import actions

SETTINGS = {
    "ARRAY": "fit_type count fit_length curve use_constant_offset constant_offset_displace "
    "use_relative_offset relative_offset_displace use_object_offset offset_object "
    "use_merge_vertices use_merge_vertices_cap merge_threshold start_cap end_cap",
    "BEVEL": "affect offset_type width width_pct segments profile profile_type limit_method "
    "angle_limit vertex_group invert_vertex_group use_clamp_overlap loop_slide miter_outer "
    "miter_inner spread vmesh_method",
    "EDGE_SPLIT": "use_edge_angle split_angle use_edge_sharp",
    "MIRROR": "use_axis use_bisect_axis use_bisect_flip_axis use_mirror_merge merge_threshold "
    "bisect_threshold use_mirror_vertex_groups mirror_object",
    "SOLIDIFY": "solidify_mode thickness offset use_even_offset use_rim use_rim_only vertex_group "
    "invert_vertex_group thickness_vertex_group thickness_clamp use_thickness_angle_clamp "
    "use_quality_normals use_flat_faces nonmanifold_thickness_mode nonmanifold_boundary_mode "
    "nonmanifold_merge_threshold shell_vertex_group rim_vertex_group",
    "SUBSURF": "levels subdivision_type use_limit_surface quality boundary_smooth use_creases",
    "TRIANGULATE": "quad_method ngon_method min_vertices",
    "WELD": "mode merge_threshold vertex_group invert_vertex_group loose_edges",
}
"""By type, what decides which vertices there are, where, and with which weights. Named one by one:
a list that Blender gives would be another one in each version."""
OBJECTS = ("mirror_object", "offset_object", "curve", "start_cap", "end_cap")
"""What may move in relation to the skin, and its vertices with it."""


def is_generator(modifier: Any) -> bool:
    """One that we take, switched on somewhere."""
    return modifier.type in SETTINGS and (modifier.show_viewport or modifier.show_render)


def describe(modifiers: Iterable[Any]) -> str:
    """Another text as soon as another mesh may come of them; empty where there are none."""
    return "; ".join(
        " ".join((m.type, *(_text(getattr(m, name, None)) for name in SETTINGS[m.type].split())))
        for m in modifiers
    )


def _text(value: Any) -> str:
    if isinstance(value, bpy.types.ID):
        return repr(value.name)
    if isinstance(value, float):
        return f"{value:.6g}"
    is_plain = value is None or isinstance(value, (bool, int, str))
    return repr(value) if is_plain else repr([_text(part) for part in value])


def find_uneven(ob: Any, modifiers: Iterable[Any]) -> str:
    """The name of one that makes another mesh in renders than in the viewport."""
    return next((m.name for m in modifiers if is_uneven(ob, m)), "")


def is_uneven(ob: Any, modifier: Any) -> bool:
    if modifier.show_viewport != modifier.show_render:
        return True
    if modifier.type != "SUBSURF":
        return False
    return modifier.levels != modifier.render_levels or modifier.levels > lowest_limit(ob)


def lowest_limit(ob: Any) -> int:
    """To what Simplify cuts subdivision, in the viewport or in renders, where the object is."""
    limits = [
        min(scene.render.simplify_subdivision, scene.render.simplify_subdivision_render)
        for scene in bpy.data.scenes
        if scene.render.use_simplify and ob.name in scene.objects
    ]
    return min(limits, default=100)


def make_even(ob: Any, modifier: Any) -> None:
    """In renders as in the viewport."""
    modifier.show_render = modifier.show_viewport
    if modifier.type == "SUBSURF":
        modifier.levels = min(modifier.levels, lowest_limit(ob))
        modifier.render_levels = modifier.levels


def find_keyed(ob: Any, modifiers: Iterable[Any]) -> str:
    """The name of one whose settings have keys or drivers: its mesh may be another each frame."""
    paths = actions.animated_paths(ob)
    for modifier in modifiers:
        start = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"].'
        if any(path.startswith(start) for path in paths):
            return modifier.name
    return ""


def hangs_on_object(modifier: Any) -> bool:
    return any(getattr(modifier, name, None) is not None for name in OBJECTS)
