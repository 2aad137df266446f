# SPDX-License-Identifier: GPL-3.0-or-later
"""The carrier: a hidden object with a point for each vertex of the skin; its positions are offsets.

It is in no collection; the modifier on the skin is its only user, so it goes when that goes.
"""

from typing import Any

import bpy
import numpy as np

from ..model.rig import RefusalError
from ..native.arrays import FloatArray
from . import compat, generators, graph

MODIFIER = "Softrig"
BAKE = "Softrig Bake"
"""How the names of the modifiers begin that play bakes, one a take."""
STACK = "softrig_stack"
"""On the carrier: which modifiers before ours made the vertices that it has points for."""
CHANGED = (
    "The modifiers before Softrig are not those that it was prepared for. Press Prepare Again, "
    "or bake again."
)
REMEDY = "Move it below Softrig."
LOST = "The hidden object that carries the motion was deleted. Prepare Again makes a new one."
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
    """Came with a library override: its carrier lies in the other file and cannot be written.

    3.4 makes an override of the carrier too, whose points are the other file's all the same.
    """
    if ob.library is not None or not is_ours(modifier):
        return False
    carrier = compat.get_input(modifier, graph.CARRIER)
    return carrier is not None and find_library(carrier) is not None


def find_library(carrier: Any) -> Any:
    """The file that its points lie in, when that is another one."""
    return carrier.library or (carrier.data.library if carrier.data is not None else None)


def find_modifier(ob: Any) -> Any:
    """Our modifier on the skin, or None; one with the carrier of another file is not ours.

    That of an override whose file is gone has no carrier; then one beside it counts that has.
    """
    ours = list_ours(ob)
    return next((m for m in ours if not _is_empty(m)), ours[0] if ours else None)


def list_ours(ob: Any) -> list[Any]:
    return [m for m in ob.modifiers if is_ours(m) and not is_borrowed(ob, m)]


def _is_empty(modifier: Any) -> bool:
    return compat.get_input(modifier, graph.CARRIER) is None


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


def best_place(ob: Any) -> int:
    """Behind what deforms the skin before anything makes vertices, or behind an armature after it.

    So flesh swings before it is subdivided, unless the rig itself moves what was made.
    """
    ours, place, leads = find_modifier(ob), 0, True
    for index, modifier in enumerate(m for m in ob.modifiers if m != ours):
        if keeps_vertices(modifier) or is_borrowed(ob, modifier):
            is_rig = modifier.type == "ARMATURE" and is_on(modifier)
            leads = leads or is_rig
            place = index + 1 if leads else place
        elif takes(ob, modifier) or not is_on(modifier):
            leads = False
        else:
            break
    return place


def is_on(modifier: Any) -> bool:
    """Somewhere: switched off in viewport and render it does nothing."""
    return modifier.show_viewport or modifier.show_render


def keeps_vertices(modifier: Any) -> bool:
    return modifier.type in DEFORMING or modifier.type in HARMLESS


def takes(ob: Any, modifier: Any) -> bool:
    """Makes vertices that a character may have before us; what follows one keeps its own."""
    return modifier.type in generators.SETTINGS and not ob.softrig.follower_uuid


def passes(ob: Any, modifier: Any) -> bool:
    """May stand before us."""
    return keeps_vertices(modifier) or takes(ob, modifier) or is_borrowed(ob, modifier)


def before_ours(ob: Any) -> list[Any]:
    """The modifiers that have done their work when ours begins; or would, where it is not yet."""
    ours = next((index for index, modifier in enumerate(ob.modifiers) if is_ours(modifier)), None)
    return list(ob.modifiers)[: best_place(ob) if ours is None else ours]


def list_generators(ob: Any) -> list[Any]:
    """Those that make vertices before ours."""
    if all(modifier.type not in generators.SETTINGS for modifier in ob.modifiers):
        return []
    return [modifier for modifier in before_ours(ob) if generators.is_generator(modifier)]


def find_blocker(ob: Any) -> str:
    """The name of what makes vertices before our modifier that we cannot follow."""
    ours = find_modifier(ob)
    for modifier in ob.modifiers if ours is not None else ():
        if modifier == ours:
            break
        if is_on(modifier) and not passes(ob, modifier):
            return modifier.name
    return ""


def find_obstacle(ob: Any) -> str:
    """Why its offsets would move the wrong vertices, here or in a render, as a sentence."""
    name = find_blocker(ob)
    if name:
        return f'The modifier "{name}" stands before Softrig and changes the mesh. {REMEDY}'
    found = list_generators(ob)
    name = generators.find_uneven(ob, found)
    if name:
        return (
            f'The modifier "{name}" stands before Softrig and makes another mesh in renders than '
            f"in the viewport. Set it alike in both."
        )
    name = generators.find_keyed(ob, found) if found else ""
    if name:
        return f'The modifier "{name}" stands before Softrig and is animated. {REMEDY}'
    return ""


def find_problem(ob: Any) -> str:
    """Likewise, or because it was prepared for other vertices."""
    return find_obstacle(ob) or (CHANGED if is_stack_changed(ob) else "")


def is_stack_changed(ob: Any) -> bool:
    """Other vertices come to our place than the carrier was made for."""
    holder = find_carrier(ob)
    prepared = holder.get(STACK, "") if holder is not None else ""
    return not ob.softrig.follower_uuid and prepared != describe_stack(ob)


def describe_stack(ob: Any) -> str:
    return generators.describe(list_generators(ob))


def check_stack(ob: Any, follows: bool = False) -> None:
    """Refuses an armature behind what makes vertices that we cannot follow, and Multires."""
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
                f"changes the mesh. Move the armature above it."
            )
        is_foreign = follows and modifier.type in generators.SETTINGS
        if is_foreign or not passes(ob, modifier):
            blocker = blocker or modifier


def attach(ob: Any) -> None:
    """Gives the skin a carrier and the modifier that adds its offsets, or changes nothing."""
    drop_copies(ob)
    carrier = make_carrier(ob)
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


def drop_copies(ob: Any) -> None:
    """Before the skin is a character: what somebody copied from one reads the offsets of that."""
    for stray in list_ours(ob):
        remove_modifier(ob, stray)


def _move_behind_deformers(ob: Any, modifier: Any) -> None:
    place = best_place(ob)
    compat.move_modifier(ob, modifier, place)
    if ob.modifiers.find(modifier.name) != place:  # 3.4 only warns
        raise RefusalError(
            f'Blender does not let Softrig stand before "{ob.modifiers[place].name}".'
        )


def make_carrier(ob: Any) -> Any:
    return bpy.data.objects.new(f"{ob.name} Softrig", _make_mesh(ob, len(ob.data.vertices)))


def _make_mesh(ob: Any, count: int) -> Any:
    mesh = bpy.data.meshes.new(f"{ob.name} Softrig")
    add_points(mesh, count)
    return mesh


def add_points(mesh: Any, count: int) -> None:
    """All zero."""
    mesh.vertices.add(count)
    compat.write_positions(mesh, np.zeros(3 * count, np.float32))


def detach(ob: Any) -> None:
    """Removes modifier, carrier and, after the last character, the node group."""
    _take_off(ob, find_modifier(ob), find_carrier(ob))
    show_borrowed(ob, True)


def modifier_paths(ob: Any) -> list[str]:
    """What data paths into our modifiers begin with."""
    names = [modifier.name for modifier in ob.modifiers if is_ours(modifier)]
    return [f'modifiers["{bpy.utils.escape_identifier(name)}"]' for name in names]


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
    if not carrier.get(STACK) and 3 * len(ob.data.vertices) != len(offsets):
        return False
    compat.write_positions(carrier.data, offsets)
    return True


def clear(ob: Any) -> None:
    """Zero offsets: the plain pose. Touches nothing when it is so already."""
    carrier = find_carrier(ob)
    if carrier is not None and compat.read_positions(carrier.data).any():
        compat.write_positions(carrier.data, np.zeros(3 * len(carrier.data.vertices), np.float32))


def fits(ob: Any, count: int) -> bool:
    """It has as many points as the mesh at our place. One that is lost is another matter."""
    carrier = find_carrier(ob)
    return carrier is None or len(carrier.data.vertices) == count
