# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold at any moment: nothing failed behind a door, and what shows is what a clean
simulation of the artist's data gives, to the bit."""

from typing import Any

import bpy
import numpy as np
from support import addon, measure, scenes

from .actions import succeeds
from .world import World


class SoakError(AssertionError):
    """Something that must hold does not."""


def demand(holds: bool, text: str) -> None:
    if not holds:
        raise SoakError(text)


def check_doors() -> None:
    session = addon.session()
    demand(session is not None and not session.problem, "the session is gone")
    demand(not session.fault, f"behind a door: {session.fault}")
    demand(not session.recording and not session.in_handler, "a recording did not end")


def check_known() -> None:
    """After a look in background, where the next frame forgets who is gone."""
    objects, session = addon.module("blender.objects"), addon.session()
    for entry in session.entries.values():
        ob = objects.find_object(entry)
        stays = ob is not None and objects.is_character(ob) and bool(ob.users_scene)
        demand(stays, f"{entry.object_name} is gone, and the session still knows it")
    held = session.api.byte_count()
    demand(bool(session.entries) or held == 0, f"for nobody the library holds {held} bytes")


def check_finite(world: World) -> None:
    for ob in world.characters():
        demand(bool(np.isfinite(measure.evaluated(ob)).all()), f"{ob.name} is not finite")


def check_character(world: World, ob: Any) -> None:
    """At the current frame."""
    carrier = addon.module("blender.carrier")
    if ob.data.is_editmode:
        return
    if carrier.find_bake(ob) is not None:
        world.found["baked"] += 1
        return
    entry = addon.session().entries.get(ob.softrig.uuid)
    demand(entry is not None, f"{ob.name} was not met")
    if entry.scene_name != bpy.context.scene.name:
        return
    if entry.state.stale and entry.steps_scene:
        _record_again(world, ob, entry)
    if entry.state.is_refused or entry.blocked:
        world.found["refused"] += 1
        demand(bool(entry.blocked or entry.state.message), f"{ob.name} is refused without a word")
        demand(not _shown(ob).any(), f"{ob.name} is refused, but moves")
        return
    world.found["live"] += 1
    _check_live(world, ob, entry)


def _record_again(world: World, ob: Any, entry: Any) -> None:
    """Where only the artist may step the scene, who does what the panel says."""
    world.found["recorded by hand"] += 1
    demand(bool(entry.notice), f"{ob.name} is not recorded again, without a word")
    scenes.make_active(ob)
    succeeds(bpy.ops.softrig.record)
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)


def _shown(ob: Any) -> np.ndarray:
    holder = addon.module("blender.carrier").find_carrier(ob)
    if holder is None:
        return np.zeros(0, np.float32)
    return addon.module("blender.compat").read_positions(holder.data)


def _check_live(world: World, ob: Any, entry: Any) -> None:
    name, phase = ob.name, addon.module("model.lifecycle").Phase.LIVE
    demand(entry.state.phase is phase, f"{name} is {entry.state} after a frame change")
    shape = addon.module("blender.gather").read_shape(addon.session(), ob)
    demand(shape.fingerprint() == entry.fingerprint, f"{name}: another shape was prepared")
    demand(shape.maps_fingerprint() == entry.maps_fingerprint, f"{name}: other maps are used")
    api = addon.session().api
    frames = entry.frames
    demand(api.wait_frame(entry.shot, frames.last, 600.0), f"{name}: the shot does not come")
    check_riders_read(ob, entry)
    looked = (frames.first, (frames.first + frames.last) // 2, frames.last)
    hashes = [api.state_hash(entry.shot, frame) for frame in looked]
    clean, offsets, riders = simulate_clean(ob, entry, looked)
    demand(hashes == clean, f"{name}: the cache is not what a clean simulation gives")
    demand(measure.same_bits(_shown(ob), offsets), f"{name}: shows {_name_shown(ob, entry)}")
    followers = addon.module("blender.followers")
    for follower, expected in zip(entry.followers, riders, strict=True):
        _check_follower(world, followers.find_object(follower), follower, expected)


def check_riders_read(ob: Any, entry: Any) -> None:
    """As they lie on the character now, or not at all."""
    followers, rest = addon.module("blender.followers"), addon.module("blender.rest")
    read = {follower.shape.uuid: follower.shape for follower in entry.followers}
    riding = [rider for rider in followers.followers_of(ob) if rider.softrig.follower_uuid in read]
    for place in rest.read_rest(addon.session(), bpy.context.scene, ob, riding) if riding else ():
        shape = followers.make_shape(place, entry.proportions)
        demand(shape.key() == read[shape.uuid].key(), f"{shape.object_name}: follows as another")


def _check_follower(world: World, rider: Any, follower: Any, expected: np.ndarray) -> None:
    carrier = addon.module("blender.carrier")
    if carrier.find_bake(rider) is not None:
        world.found["baked followers"] += 1
        return
    stands = carrier.find_problem(rider)
    world.found["standing followers" if stands else "followers"] += 1
    expected, shown = np.zeros_like(expected) if stands else expected, _shown(rider)
    if not measure.same_bits(shown, expected):
        kept = np.zeros(len(expected), np.float32)
        addon.session().api.read_follower(
            follower.identity, float(bpy.context.scene.frame_current), kept
        )
        raise SoakError(
            f"{rider.name} does not follow as a clean simulation tells; {len(shown)} of "
            f"{len(expected)} numbers, shown {np.abs(shown).max(initial=0.0)}, expected "
            f"{np.abs(expected).max(initial=0.0)}, as cached: {measure.same_bits(shown, kept)}, "
            f"cache as expected: {measure.same_bits(kept, expected)}"
        )


def _name_shown(ob: Any, entry: Any) -> str:
    """What it is instead of the current frame, for whoever has to find out why."""
    shown, offsets = _shown(ob), np.zeros(len(entry.buffer), np.float32)
    if len(shown) != len(offsets):
        return f"{len(shown) // 3} points of {len(offsets) // 3}"
    if not shown.any():
        return f"the plain pose; {entry.state} {entry.blocked}"
    for frame in range(entry.frames.first, entry.frames.last + 1):
        addon.session().api.read_offsets(entry.shot, frame, offsets)
        if measure.same_bits(shown, offsets):
            return f"frame {frame} at frame {bpy.context.scene.frame_current}; {entry.state}"
    return f"another shot; {entry.state}"


def simulate_clean(
    ob: Any, entry: Any, looked: tuple
) -> tuple[list[int], np.ndarray, list[np.ndarray]]:
    """From what was prepared, but everything else read anew from the artist's data.

    Hashes of some frames, and what the current one shows: of the skin, and of its followers.
    """
    objects, tape = addon.module("blender.objects"), addon.module("blender.tape")
    stage, session, scene = addon.module("blender.stage"), addon.session(), bpy.context.scene
    clean = addon.module("model.session").Session(session.api)
    twin = clean.open_entry("clean", ob.name, scene.name)
    twin.plan, twin.surroundings = entry.plan, objects.surroundings_of(scene)
    twin.proportions = entry.proportions
    try:
        twin.character = clean.api.open_character(clean.api.character_file(entry.character))
        clean.open_shot(twin, objects.shot_frames(ob, scene), stage.settings_of(twin, ob))
        frames, points = twin.scene_frames(), entry.skin_points
        if points:
            clean.follow_skin(twin, entry.rest)
        clean.follow(twin, [follower.shape for follower in entry.followers])
        record = tape.record_stepping if entry.steps_scene else tape.record
        riders = twin.followers
        recording = record(
            session, scene, ob, entry.plan, frames, skin_points=points, followers=riders
        )
        clean.write_followers(twin, recording.followers)
        clean.write_rows(twin, recording.rows, recording.dials, recording.skins)
        # past the session, whose own calls are on trial
        clean.api.set_params(twin.shot, stage.settings_of(twin, ob))
        demand(clean.api.wait_frame(twin.shot, twin.frames.last, 600.0), "no clean simulation")
        offsets = np.zeros(len(entry.buffer), np.float32)
        shown = objects.shown_frame(scene)
        shown = max(shown, twin.frames.first) if twin.frames.pre_roll else shown
        demand(clean.api.read_offsets(twin.shot, shown, offsets), "no offsets")
        for rider in riders:
            clean.api.read_follower(rider.identity, shown, rider.buffer)
        hashes = [clean.api.state_hash(twin.shot, frame) for frame in looked]
        return hashes, offsets, [rider.buffer for rider in riders]
    finally:
        clean.release(twin)


def check_nothing_left() -> None:
    """After the last character went."""
    carrier, graph = addon.module("blender.carrier"), addon.module("blender.graph")
    # deleted but followed, or only in a collection that some action showed: in no scene
    ours = [ob for ob in bpy.data.objects if carrier.find_modifier(ob) and not ob.users_scene]
    for ob in {*ours, *(ob for ob in bpy.data.objects if ob.users == 0)}:
        bpy.data.objects.remove(ob)
    held = addon.session().api.byte_count()
    demand(held == 0, f"the library still holds {held} bytes")
    demand(not addon.session().entries, "the session still knows characters")
    ours = [ob.name for ob in bpy.data.objects if carrier.find_modifier(ob)]
    demand(not ours, f"still with our modifier: {ours}")
    trees = [t.name for t in bpy.data.node_groups if graph.is_our_tree(t) and t.users > 0]
    demand(not trees, f"still in use: {trees}")
    scratch = [s.name for s in bpy.data.scenes if s.name.startswith("Softrig")]
    demand(not scratch, f"scenes of ours are left: {scratch}")
