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
"""How the names of the modifiers begin that play bakes, one a take."""
LOST = "The hidden object that carries the motion was deleted. Prepare Again makes a new one."
BORROWED = (
    "This character has Softrig in the file that it is linked from, which cannot be written here. "
    "Press Add Softrig to let it move in this file."
)
DEFORMING = frozenset(
    "ARMATURE CAST CLOTH COLLISION CORRECTIVE_SMOOTH CURVE DISPLACE HOOK LAPLACIANDEFORM "
    "LAPLACIANSMOOTH LATTICE MESH_CACHE MESH_DEFORM SHRINKWRAP SIMPLE_DEFORM SMOOTH SOFT_BODY "
    "SURFACE_DEFORM WARP WAVE".split()
)
HARMLESS = frozenset(
    "DATA_TRANSFER NORMAL_EDIT WEIGHTED_NORMAL UV_PROJECT UV_WARP VERTEX_WEIGHT_EDIT "
    "VERTEX_WEIGHT_MIX VERTEX_WEIGHT_PROXIMITY PARTICLE_SYSTEM".split()
)


def is_ours(modifier: Any) -> bool:
    return modifier.type == "NODES" and graph.is_our_tree(modifier.node_group)


def is_borrowed(ob: Any, modifier: Any) -> bool:
    """Came with a library override: its carrier lies in the other file and cannot be written."""
    if ob.library is not None or not is_ours(modifier):
        return False
    carrier = compat.get_input(modifier, graph.CARRIER)
    return carrier is not None and carrier.library is not None


def find_modifier(ob: Any) -> Any:
    """Our modifier on the skin, or None; one with the carrier of another file is not ours."""
    for modifier in ob.modifiers:
        if is_ours(modifier) and not is_borrowed(ob, modifier):
            return modifier
    return None


def find_borrowed(ob: Any) -> Any:
    """The modifier that a library override has from the linked file, or None."""
    return next((m for m in ob.modifiers if is_borrowed(ob, m)), None)


def plays_bake(modifier: Any) -> bool:
    """A bake in the linked file plays in an override too."""
    carrier = compat.get_input(modifier, graph.CARRIER)
    return carrier is not None and bool(list_bakes(carrier))


def show_borrowed(ob: Any, shown: bool) -> None:
    """An override with a carrier of its own must not be moved by the linked one too."""
    borrowed = find_borrowed(ob)
    if borrowed is not None:
        borrowed.show_viewport = borrowed.show_render = shown


def find_carrier(ob: Any) -> Any:
    """The carrier's object, or None."""
    modifier = find_modifier(ob)
    carrier = compat.get_input(modifier, graph.CARRIER) if modifier else None
    return carrier if carrier is not None and carrier.type == "MESH" else None


def is_lost(ob: Any) -> bool:
    """The modifier is there, but somebody deleted what it reads."""
    return find_modifier(ob) is not None and find_carrier(ob) is None


def find_bake(ob: Any) -> Any:
    """The first Mesh Cache modifier on the carrier, or None."""
    carrier = find_carrier(ob)
    bakes = list_bakes(carrier) if carrier else []
    return bakes[0] if bakes else None


def list_bakes(carrier: Any) -> list[Any]:
    """Its modifiers that play takes, in the order in which they are laid over each other."""
    return [m for m in carrier.modifiers if m.type == "MESH_CACHE" and m.name.startswith(BAKE)]


def leading_deformers(ob: Any) -> int:
    """How many modifiers stand before the first that may change the topology, ours not counted."""
    count = 0
    for modifier in ob.modifiers:
        if not keeps_vertices(modifier) and not is_borrowed(ob, modifier):
            break
        count += 1
    return count


def keeps_vertices(modifier: Any) -> bool:
    return modifier.type in DEFORMING or modifier.type in HARMLESS


def find_blocker(ob: Any) -> str:
    """The name of what makes new vertices before our modifier: offsets go by index."""
    ours = find_modifier(ob)
    for modifier in ob.modifiers if ours is not None else ():
        if modifier == ours:
            break
        is_on = modifier.show_viewport or modifier.show_render
        if is_on and not keeps_vertices(modifier) and not is_borrowed(ob, modifier):
            return modifier.name
    return ""


def find_problem(ob: Any) -> str:
    """The same as a sentence."""
    name = find_blocker(ob)
    if not name:
        return ""
    return (
        f'The modifier "{name}" stands before Softrig and changes the mesh. Move it below Softrig.'
    )


def check_stack(ob: Any) -> None:
    """Refuses an armature behind something that may make new vertices, and Multires."""
    blocker = None
    for modifier in ob.modifiers:
        if modifier.type == "MULTIRES":
            raise RefusalError(
                f'Softrig cannot stand before the Multires modifier "{modifier.name}", which wants '
                f"the undeformed mesh. Apply or remove it first; Subdivision Surface works."
            )
        if modifier.type == "ARMATURE" and blocker is not None:
            raise RefusalError(
                f'The modifier "{blocker.name}" stands before the armature "{modifier.name}" and '
                f"changes the mesh. {remedy(blocker)}"
            )
        if not keeps_vertices(modifier) and not is_borrowed(ob, modifier):
            blocker = blocker or modifier


def remedy(blocker: Any) -> str:
    """A mirrored half has bones of its own only where the mirror stands before the armature."""
    if blocker.type == "MIRROR":
        return "Move the armature above it; or, where each side has bones of its own, apply it."
    return "Move the armature above it."


def attach(ob: Any) -> None:
    """Gives the skin a carrier and the modifier that adds its offsets, or changes nothing."""
    carrier = _make_carrier(ob)
    modifier = ob.modifiers.new(MODIFIER, "NODES")
    try:
        modifier.node_group = graph.ensure_tree()
        modifier.show_expanded = False
        compat.set_input(modifier, graph.CARRIER, carrier)
        _move_behind_deformers(ob, modifier)
        show_borrowed(ob, False)
    except Exception:
        _take_off(ob, modifier, carrier)
        raise


def _move_behind_deformers(ob: Any, modifier: Any) -> None:
    place = leading_deformers(ob)
    compat.move_modifier(ob, modifier, place)
    if ob.modifiers.find(modifier.name) != place:  # 3.4 only warns
        raise RefusalError(
            f'Blender does not let Softrig stand before "{ob.modifiers[place].name}".'
        )


def _make_carrier(ob: Any) -> Any:
    return bpy.data.objects.new(f"{ob.name} Softrig", _make_mesh(ob))


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
    _take_off(ob, find_modifier(ob), find_carrier(ob))
    show_borrowed(ob, True)


def remove_modifier(ob: Any, modifier: Any) -> None:
    """Any modifier; of ours the carrier is let go first, or 5.2 goes on counting its user."""
    if is_ours(modifier):
        compat.set_input(modifier, graph.CARRIER, None)
    ob.modifiers.remove(modifier)


def _take_off(ob: Any, modifier: Any, carrier: Any) -> None:
    if modifier is not None:
        remove_modifier(ob, modifier)
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
    """Puts offsets on the carrier; False when it or the skin has another number of points."""
    carrier = find_carrier(ob)
    if carrier is None or 3 * len(carrier.data.vertices) != len(offsets):
        return False
    if 3 * len(ob.data.vertices) != len(offsets):
        return False
    compat.write_positions(carrier.data, offsets)
    return True


def clear(ob: Any) -> None:
    """Zero offsets: the plain pose. Touches nothing when it is so already."""
    carrier = find_carrier(ob)
    if carrier is not None and compat.read_positions(carrier.data).any():
        compat.write_positions(carrier.data, np.zeros(3 * len(carrier.data.vertices), np.float32))


def fit(ob: Any) -> None:
    """After the artist changed the mesh: as many points as it has now, all zero.

    A carrier that was deleted is made anew.
    """
    if is_lost(ob):
        compat.set_input(find_modifier(ob), graph.CARRIER, _make_carrier(ob))
    carrier = find_carrier(ob)
    if carrier is None or len(carrier.data.vertices) == len(ob.data.vertices):
        return
    for modifier in list_bakes(carrier):
        carrier.modifiers.remove(modifier)
    before = carrier.data
    carrier.data = _make_mesh(ob)
    if before.users == 0:
        bpy.data.meshes.remove(before)
