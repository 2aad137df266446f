# SPDX-License-Identifier: GPL-3.0-or-later
"""The carrier: a hidden object with a point for each vertex of the skin; its positions are offsets.

It is in no collection; the modifier on the skin is its only user, so it goes when that goes.
"""

from typing import Any

import bpy
import numpy as np

from ..model.rig import RefusalError
from ..native.arrays import FloatArray
from . import compat, graph

MODIFIER = "Softrig"
BAKE = "Softrig Bake"
DEFORMING = frozenset(
    "ARMATURE CAST CLOTH COLLISION CORRECTIVE_SMOOTH CURVE DISPLACE HOOK LAPLACIANDEFORM "
    "LAPLACIANSMOOTH LATTICE MESH_CACHE MESH_DEFORM SHRINKWRAP SIMPLE_DEFORM SMOOTH SOFT_BODY "
    "SURFACE_DEFORM WARP WAVE".split()
)
HARMLESS = frozenset(
    "DATA_TRANSFER NORMAL_EDIT WEIGHTED_NORMAL UV_PROJECT UV_WARP VERTEX_WEIGHT_EDIT "
    "VERTEX_WEIGHT_MIX VERTEX_WEIGHT_PROXIMITY PARTICLE_SYSTEM".split()
)


def find_modifier(ob: Any) -> Any:
    """Our modifier on the skin, or None."""
    for modifier in ob.modifiers:
        if modifier.type == "NODES" and graph.is_our_tree(modifier.node_group):
            return modifier
    return None


def find_carrier(ob: Any) -> Any:
    """The carrier's object, or None."""
    modifier = find_modifier(ob)
    return compat.get_input(modifier, graph.CARRIER) if modifier else None


def find_bake(ob: Any) -> Any:
    """The Mesh Cache modifier on the carrier, or None."""
    carrier = find_carrier(ob)
    return carrier.modifiers.get(BAKE) if carrier else None


def leading_deformers(ob: Any) -> int:
    """How many modifiers stand before the first that may change the topology, ours not counted."""
    count = 0
    for modifier in ob.modifiers:
        if modifier.type not in DEFORMING and modifier.type not in HARMLESS:
            break
        count += 1
    return count


def check_stack(ob: Any) -> None:
    """Refuses an armature behind something that may make new vertices."""
    blocker = None
    for modifier in ob.modifiers:
        if modifier.type == "ARMATURE" and blocker is not None:
            raise RefusalError(
                f'The modifier "{blocker.name}" stands before the armature "{modifier.name}" and '
                f"changes the mesh. Move the armature above it."
            )
        if modifier.type not in DEFORMING | HARMLESS:
            blocker = blocker or modifier


def attach(ob: Any) -> None:
    """Gives the skin a carrier and the modifier that adds its offsets. Offsets are zero."""
    carrier = bpy.data.objects.new(f"{ob.name} Softrig", _make_mesh(ob))
    modifier = ob.modifiers.new(MODIFIER, "NODES")
    modifier.node_group = graph.ensure_tree()
    modifier.show_expanded = False
    compat.set_input(modifier, graph.CARRIER, carrier)
    compat.move_modifier(ob, modifier, leading_deformers(ob))


def _make_mesh(ob: Any) -> Any:
    mesh = bpy.data.meshes.new(f"{ob.name} Softrig")
    mesh.vertices.add(len(ob.data.vertices))
    compat.write_positions(mesh, np.zeros(3 * len(ob.data.vertices), np.float32))
    return mesh


def duplicate(ob: Any) -> None:
    """Gives a copied skin a carrier of its own, with the same bake if there is one."""
    modifier, carrier = find_modifier(ob), find_carrier(ob)
    if carrier is None:
        return
    copied = carrier.copy()
    copied.data = carrier.data.copy()
    compat.set_input(modifier, graph.CARRIER, copied)


def detach(ob: Any) -> None:
    """Removes modifier, carrier and, after the last character, the node group."""
    modifier, carrier = find_modifier(ob), find_carrier(ob)
    if modifier is not None:
        compat.set_input(modifier, graph.CARRIER, None)  # 5.2 goes on counting it otherwise
        ob.modifiers.remove(modifier)
    remove_carrier(carrier)
    graph.remove_unused()


def remove_carrier(carrier: Any) -> None:
    """With its mesh, unless something else uses it."""
    if carrier is None or carrier.library is not None or carrier.users > 0:
        return
    mesh = carrier.data
    bpy.data.objects.remove(carrier)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)


def write(ob: Any, offsets: FloatArray) -> bool:
    """Puts offsets on the carrier; False when it has another number of points."""
    carrier = find_carrier(ob)
    if carrier is None or 3 * len(carrier.data.vertices) != len(offsets):
        return False
    compat.write_positions(carrier.data, offsets)
    return True


def clear(ob: Any) -> None:
    carrier = find_carrier(ob)
    if carrier is not None:
        compat.write_positions(carrier.data, np.zeros(3 * len(carrier.data.vertices), np.float32))


def fit(ob: Any) -> None:
    """After the artist changed the mesh: as many points as it has now, all zero."""
    carrier = find_carrier(ob)
    if carrier is None or len(carrier.data.vertices) == len(ob.data.vertices):
        return
    free_bake(ob)
    before = carrier.data
    carrier.data = _make_mesh(ob)
    if before.users == 0:
        bpy.data.meshes.remove(before)


def attach_bake(ob: Any, path: str, first_frame: int) -> None:
    """Blender's own Mesh Cache plays the file; it needs no add-on."""
    carrier = find_carrier(ob)
    modifier = carrier.modifiers.get(BAKE) or carrier.modifiers.new(BAKE, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = path
    modifier.frame_start = first_frame


def free_bake(ob: Any) -> None:
    modifier = find_bake(ob)
    if modifier is not None:
        find_carrier(ob).modifiers.remove(modifier)
