# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion as shape keys of the skin itself, and of its followers: for games, and for files
without a cache.

Offsets act behind the deformers, shape keys before them. So each offset is brought back through
what the deformers do around its vertex. That is measured: four copies of the skin, three of them
shifted a little along x, y and z, are deformed in a private scene; their differences are the
deformation's matrix at each vertex. Right for whatever moves each vertex by itself.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..model.baking import sample_frames
from ..model.followers import Follower
from ..model.rig import RefusalError
from ..model.session import Entry, Session
from ..native.arrays import FloatArray
from ..native.inputs import FrameRange
from . import actions, carrier, compat, followers, gather, tape
from .bake_names import has_ours, is_our_path, is_ours, key_name

OURS, MADE_OF, FRAMES = "softrig_made", "softrig_made_of", "softrig_frames"
"""On the shape keys: 1 when there were none before, so that Basis goes with the others; what a bake
was made of; its first and last frame."""
SHOWN = "softrig_shown"
"""On the carrier: whether the modifier was on in viewport and render before it gave way to keys."""
SHIFT = 0.05
"""Of the copies, as a share of the skin's size: large enough for single precision."""
SMALLEST_DETERMINANT = 1e-6
"""A vertex that the rig squeezes flatter than this cannot be brought back; it stays in its pose."""


def check(ob: Any, absolute: bool) -> None:
    """Refuses, in words, what would change more than this character, or keys of the artist's."""
    problem = carrier.find_obstacle(ob) or tape.find_unposed(ob) or _find_override(ob)
    if problem:
        raise RefusalError(problem)
    made = carrier.list_generators(ob)
    if made:
        raise RefusalError(
            f'The modifier "{made[0].name}" makes vertices before Softrig; shape keys can only '
            f"move those of the mesh itself. Bake to a point cache, or apply the modifier."
        )
    mesh = ob.data
    if mesh.library is not None or mesh.override_library is not None:
        raise RefusalError("This mesh is linked from another file, which cannot hold new keys.")
    if mesh.users > 1:
        raise RefusalError(
            "Several objects share this mesh, and shape keys would move them all. "
            "Make it single-user first (Object > Relations)."
        )
    keys = mesh.shape_keys
    foreign = [key for key in keys.key_blocks[1:] if not is_ours(key)] if keys else []
    if keys is not None and not keys.use_relative and foreign:
        raise RefusalError("This mesh has absolute shape keys of its own; a bake would move them.")
    if absolute and foreign:
        raise RefusalError(
            f'This mesh has the shape key "{foreign[0].name}", which absolute keys would switch '
            f"off. Bake to one key a frame instead."
        )
    curves = keys.animation_data if keys else None
    if curves is not None and curves.action is not None and curves.action.library is not None:
        raise RefusalError("The action of this mesh's shape keys is linked from another file.")


def _find_override(ob: Any) -> str:
    """What of the artist's would play in place of our keys, or beside them: a sentence."""
    modifier = carrier.find_modifier(ob)
    path = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"].show_' if modifier else "?"
    if any(animated.startswith(path) for animated in actions.animated_paths(ob)):
        return (
            "The Softrig modifier is switched by keyframes; beside shape keys it has to stay off."
        )
    if ob.show_only_shape_key:
        return "One shape key is pinned (Shape Key Lock), so that no other shows. Unpin it first."
    keys = ob.data.shape_keys
    plays = keys.animation_data if keys is not None else None
    if plays is None:
        return ""
    if plays.use_tweak_mode:
        return "An action of the shape keys is open for tweaking. Leave Tweak Mode first."
    if any(track.is_solo for track in plays.nla_tracks):
        return "A track of the shape keys plays solo, so that no action does. End that first."
    if plays.action_influence != 1.0 or plays.action_blend_type != "REPLACE":
        return (
            "The shape keys' action is blended with strips; keys would show in part. Push it down."
        )
    return ""


@contextmanager
def shifted_copies(session: Session, scene: Any, ob: Any, shift: float) -> Iterator[Any]:
    """A private scene with the skin and three shifted ones, each with the deformers and no more."""
    rest = gather.read_positions(ob.data).reshape(-1, 3)
    copies: list[Any] = []
    with tape.private_scene(session, scene, ob, ()) as (private, _):
        try:
            for axis in (None, 0, 1, 2):
                copies.append(_copy(ob))
                moved = rest.copy()
                if axis is not None:
                    moved[:, axis] += np.float32(shift)
                compat.write_positions(copies[-1].data, moved.reshape(-1))
                private.collection.objects.link(copies[-1])
            yield private, copies
        finally:
            for copy in copies:
                mesh = copy.data
                bpy.data.objects.remove(copy)
                bpy.data.meshes.remove(mesh)


def _copy(ob: Any) -> Any:
    copy = ob.copy()
    copy.data = ob.data.copy()
    copy.property_unset("softrig")
    compat.clear_keys(copy)
    copy.hide_viewport = copy.hide_render = False
    behind = False
    for modifier in list(copy.modifiers):
        behind = behind or carrier.is_ours(modifier)
        if behind or not modifier.show_viewport:
            carrier.remove_modifier(copy, modifier)
    return copy


def bring_back(places: list[FloatArray], offsets: FloatArray, shift: float) -> FloatArray:
    """Offsets before the deformers, from where four copies are behind them."""
    start = places[0].reshape(-1, 3).astype(np.float64)
    columns = [(place.reshape(-1, 3) - start) / shift for place in places[1:]]
    matrices = np.stack(columns, axis=2)
    lost = ~(np.abs(np.linalg.det(matrices)) > SMALLEST_DETERMINANT)
    matrices[lost] = np.eye(3)
    moved = np.linalg.solve(matrices, offsets.reshape(-1, 3, 1).astype(np.float64))[:, :, 0]
    moved[lost] = 0.0
    return moved.astype(np.float32).reshape(-1)


def find_targets(entry: Entry, ob: Any, absolute: bool) -> tuple[list[Any], list[str]]:
    """Who gets keys: the skin, with None, and its followers; and why some of those get none."""
    targets, left_out = [(ob, None)], []
    for follower in entry.followers:
        rider = followers.find_object(follower)
        try:
            if rider is not None:
                check(rider, absolute)
                targets.append((rider, follower))
        except RefusalError as error:
            left_out.append(f'"{rider.name}" gets no shape keys: {error}')
    return targets, left_out


def _read_offsets(
    session: Session, entry: Entry, frame: float, follower: Follower | None
) -> FloatArray:
    with entry.lock:
        if follower is None:
            ready, buffer = session.read_offsets(entry, frame), entry.buffer
        else:
            buffer = follower.buffer
            ready = session.api.read_follower(follower.identity, frame, buffer)
        if not ready:
            raise RefusalError(f"Frame {frame:g} is not simulated. Bake again.")
        return buffer.copy()


def read_moves(
    session: Session,
    entry: Entry,
    scene: Any,
    ob: Any,
    frames: list[float],
    follower: Follower | None = None,
) -> Iterator[FloatArray]:
    """For each moment what to add to the Basis; all frames must be ready."""
    rest = gather.read_positions(ob.data).reshape(-1, 3)
    shift = SHIFT * float(np.ptp(rest, axis=0).max()) or 1.0
    with shifted_copies(session, scene, ob, shift) as (private, copies):
        for frame in frames:
            whole = math.floor(frame)
            private.frame_set(whole, subframe=frame - whole)
            depsgraph = private.view_layers[0].depsgraph
            places = [compat.read_positions(copy.evaluated_get(depsgraph).data) for copy in copies]
            yield bring_back(places, _read_offsets(session, entry, frame, follower), shift)


def write_keys(
    ob: Any, frames: FrameRange, moves: list[FloatArray], absolute: bool, made_of: str = ""
) -> None:
    """Those of an earlier bake go. The stretch brings frames to the clock that curves have."""
    remove_keys(ob)
    if ob.data.shape_keys is None:
        ob.shape_key_add(name="Basis", from_mix=False)
        ob.data.shape_keys[OURS] = 1
    keys = ob.data.shape_keys
    rest, names = gather.read_positions(ob.data), []
    for row, move in enumerate(moves):
        key = ob.shape_key_add(name=key_name(row, frames), from_mix=False)
        key.value = 0.0  # 5.2 makes it 1
        key.interpolation = "KEY_LINEAR"
        compat.write_key(key, rest + move)
        names.append(key.name)
    times = np.array(sample_frames(frames), np.float64) / frames.stretch
    actions.leave_shared_curves(keys)
    curves = actions.ensure_curves(keys, f"{ob.name} Softrig")
    if absolute:
        keys.use_relative = False
        evaluations = [keys.key_blocks[name].frame for name in names]
        actions.write_curve(curves, "eval_time", times, evaluations)
    else:
        for row, name in enumerate(names):
            span = slice(max(row - 1, 0), row + 2)
            values = (np.arange(len(names))[span] == row).astype(np.float64)
            actions.write_curve(curves, f'key_blocks["{name}"].value', times[span], values)
    keys[MADE_OF], keys[FRAMES] = made_of, [frames.first, frames.first + frames.count - 1]
    modifier, holder = carrier.find_modifier(ob), carrier.find_carrier(ob)
    if modifier is not None:  # keys and offsets at once would move the flesh twice
        if holder is not None:
            holder[SHOWN] = [int(modifier.show_viewport), int(modifier.show_render)]
        modifier.show_viewport = modifier.show_render = False
    ob.data.update_tag()


def made_of(ob: Any) -> str:
    """What the keys of a bake were made of; empty where there are none, or nobody knows."""
    keys = ob.data.shape_keys
    return keys.get(MADE_OF, "") if keys is not None and has_ours(ob.data) else ""


def remove_keys(ob: Any) -> None:
    """Ours, with their curves; keys and curves of the artist's stay."""
    keys = ob.data.shape_keys
    if keys is None:
        return
    paths = {path for path in actions.animated_paths(keys) if is_our_path(path)}
    ours = [key for key in keys.key_blocks if is_ours(key)]
    if not ours and not paths:
        return
    made = keys.get(OURS, 0)
    if ours and not keys.use_relative:
        paths.add("eval_time")
        keys.use_relative = True
    actions.leave_shared_curves(keys)
    actions.remove_curves(keys, paths)
    actions.return_to_shared_curves(keys)
    for key in ours:
        ob.shape_key_remove(key)
    left = ob.data.shape_keys
    if made and left is not None and len(left.key_blocks) == 1:
        compat.clear_keys(ob)
    elif left is not None:
        for name in (MADE_OF, FRAMES):
            left.pop(name, None)
    show_again()


def show_again() -> None:
    """Whose modifier gave way to keys that are gone: freed, or deleted by the artist."""
    for ob in bpy.data.objects:
        holder = carrier.find_carrier(ob) if ob.type == "MESH" else None
        if holder is None or SHOWN not in holder or has_ours(ob.data):
            continue
        modifier = carrier.find_modifier(ob)
        modifier.show_viewport, modifier.show_render = map(bool, holder[SHOWN])
        del holder[SHOWN]


def find_missed(ob: Any, frame: int) -> str:
    """Why this frame is not in its baked keys, or nothing."""
    first, last = ob.data.shape_keys.get(FRAMES, (frame, frame))
    return "" if first <= frame <= last else f"the shape keys have frames {first} to {last}."
