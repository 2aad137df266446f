# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves a skin besides plain bones, and where that puts it: the points that are recorded.

Lattices, shape keys, "Preserve Volume", bendy bones, caches and the like. Bones alone need no
points: their matrices tell everything. Physics (cloth, soft bodies) depends on what was before, so
it is not recorded frame by frame; the rig is followed there.
"""

from typing import Any

import bpy
import numpy as np

from ..model.rig import RefusalError
from ..native.arrays import FloatArray
from . import actions, bake_names, carrier, compat, generators

NOT_FOLLOWED = frozenset(
    "CLOTH COLLISION CORRECTIVE_SMOOTH LAPLACIANSMOOTH SMOOTH SOFT_BODY SURFACE".split()
)
"""Physics, and what only smooths what the rig does."""
PROBE = "softrig_probe"
"""On meshes that are a probe's own and go with it."""


def list_deformers(ob: Any) -> tuple[str, ...]:
    """Names of what moves the skin and is no plain bone; none for most characters."""
    found = [modifier.name for modifier in carrier.before_ours(ob) if is_followed(modifier)]
    found += [modifier.name for modifier in carrier.list_generators(ob) if is_late(ob, modifier)]
    if has_moving_keys(ob.data):
        found.append("Shape Keys")
    if ob.parent is not None and ob.parent.type in ("LATTICE", "CURVE"):
        if ob.parent_type in ("LATTICE", "ARMATURE"):
            found.append(ob.parent.name)
    if ob.parent_type == "ARMATURE" and ob.parent is not None and has_bendy_bones(ob.parent):
        found.append(ob.parent.name)
    return tuple(found)


def is_followed(modifier: Any) -> bool:
    if not (modifier.show_viewport or modifier.show_render):
        return False
    if modifier.type != "ARMATURE":
        return modifier.type in carrier.DEFORMING - NOT_FOLLOWED
    return modifier.object is not None and not is_plain(modifier)


def is_late(ob: Any, generator: Any) -> bool:
    """What is made of a deformed mesh goes where no bone alone takes it."""
    if ob.parent_type in ("ARMATURE", "LATTICE", "CURVE") or generators.hangs_on_object(generator):
        return True
    before = carrier.before_ours(ob)
    earlier = before[: before.index(generator)]
    return any(m.type in carrier.DEFORMING and carrier.is_on(m) for m in earlier)


def is_plain(modifier: Any) -> bool:
    """Linear blending of whole bones by vertex groups, all over the mesh."""
    special = (
        modifier.use_deform_preserve_volume
        or modifier.use_bone_envelopes
        or modifier.use_multi_modifier
        or modifier.vertex_group
        or not modifier.use_vertex_groups
    )
    return not special and not has_bendy_bones(modifier.object)


def has_bendy_bones(armature: Any) -> bool:
    bones = getattr(armature.data, "bones", ())
    return any(bone.use_deform and bone.bbone_segments > 1 for bone in bones)


def has_moving_keys(mesh: Any) -> bool:
    """Keys with a curve, a driver or an influence; not those that a bake of ours made."""
    keys = mesh.shape_keys
    if keys is None:
        return False
    others = [key for key in keys.key_blocks[1:] if not bake_names.is_ours(key)]
    if not others:
        return False
    if not all(bake_names.is_our_path(path) for path in actions.animated_paths(keys)):
        return True
    strips = keys.animation_data is not None and len(keys.animation_data.nla_tracks) > 0
    return strips or any(key.value != 0.0 and not key.mute for key in others)


def make_probe(ob: Any) -> Any:
    """A copy of the skin with what deforms it and nothing of ours; it shares the mesh where that
    holds none of our keys."""
    probe = ob.copy()
    if bake_names.has_ours(ob.data):
        probe.data = without_ours(ob.data)
    probe.property_unset("softrig")
    probe.hide_viewport = probe.hide_render = False
    kept = {modifier.name for modifier in carrier.before_ours(probe)}
    for modifier in list(probe.modifiers):
        followed = modifier.type == "ARMATURE" or modifier.type not in NOT_FOLLOWED
        if modifier.name not in kept or not followed:
            carrier.remove_modifier(probe, modifier)
        else:
            modifier.show_viewport = modifier.show_viewport or modifier.show_render
    return probe


def without_ours(mesh: Any) -> Any:
    """A copy in which the keys of a bake move nothing. They stay, as Blender switches a curve off
    that leads nowhere, for every user of its action."""
    copied = mesh.copy()
    copied[PROBE] = True
    keys = copied.shape_keys
    keys.use_relative = True
    start = compat.read_key(keys.key_blocks[0])
    for key in filter(bake_names.is_ours, keys.key_blocks):
        key.relative_key = keys.key_blocks[0]
        compat.write_key(key, start)
    return copied


def read_points(depsgraph: Any, probe: Any, count: int) -> FloatArray:
    """Where the deformers put the skin, in its own space."""
    points = compat.read_positions(probe.evaluated_get(depsgraph).data)
    if len(points) != 3 * count:
        raise RefusalError("A modifier before Softrig changes how many vertices the mesh has.")
    if not np.isfinite(points).all():
        raise RefusalError("A modifier before Softrig puts vertices nowhere.")
    return points


def list_movers(ob: Any) -> list[tuple[Any, str]]:
    """The objects, and bones of them, that what we follow hangs on."""
    movers = []
    for modifier in filter(is_followed, carrier.before_ours(ob)):
        for name, member in modifier.bl_rna.properties.items():
            points_at = member.type == "POINTER" and member.fixed_type.identifier == "Object"
            target = getattr(modifier, name) if points_at else None
            if target is not None:
                movers.append((target, getattr(modifier, "subtarget", "")))
    if ob.parent is not None and ob.parent_type in ("LATTICE", "ARMATURE"):
        movers.append((ob.parent, ""))
    return movers


def read_movers(depsgraph: Any, ob: Any, movers: list[tuple[Any, str]]) -> FloatArray:
    """Where those stand, and the values of the shape keys; NaN for what is not evaluated."""
    found: list[float] = []
    for mover, bone_name in movers:
        evaluated = mover.evaluated_get(depsgraph)
        matrix = evaluated.matrix_world
        if bone_name and evaluated.pose is not None and bone_name in evaluated.pose.bones:
            matrix = matrix @ evaluated.pose.bones[bone_name].matrix
        row = np.array(matrix, np.float32).reshape(-1)
        found += row.tolist() if evaluated.is_evaluated else [np.nan] * len(row)
    keys = ob.data.shape_keys
    if keys is not None:
        evaluated = keys.evaluated_get(depsgraph)
        values = [key.value for key in evaluated.key_blocks]
        found += values if evaluated.is_evaluated else [np.nan] * len(values)
    return np.array(found, np.float32)


def remove_probe(probe: Any) -> None:
    mesh = probe.data
    bpy.data.objects.remove(probe)
    if mesh is not None and PROBE in mesh:
        compat.remove_mesh(mesh)
