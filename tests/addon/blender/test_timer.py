# SPDX-License-Identifier: GPL-3.0-or-later
"""What the window's timer does, turn by turn, in Blenders that have no window here."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes


def tick_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    watch, end = addon.module("blender.watch"), time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        watch.tick(addon.session())
        time.sleep(0.01)


def is_whole(skin: Any) -> bool:
    entry = addon.session().entries.get(skin.softrig.uuid)
    status = entry.shot_status if entry else None
    if status is None or entry.state.stale or entry.state.owed:
        return False
    return entry.state.phase.name == "LIVE" and status.ready == status.frame_count


def points(skin: Any) -> np.ndarray:
    carrier = addon.module("blender.carrier").find_carrier(skin)
    return addon.module("blender.compat").read_positions(carrier.data)


def show(scene: Any) -> None:
    """As the window's frame handler does: without waiting."""
    addon.module("blender.show").show_scene(addon.session(), scene)


def test_a_frame_that_is_not_ready_shows_the_pose_and_is_caught_up(skin: Any, scene: Any) -> None:
    expected = measure.at_frame(skin, 24)
    tick_until(lambda: is_whole(skin))
    skin.softrig.substeps = 100
    scene.frame_end = 1000
    addon.module("blender.watch").tick(addon.session())
    show(scene)
    assert not points(skin).any()
    tick_until(lambda: bool(points(skin).any()))
    assert measure.largest(measure.evaluated(skin), expected) < 1.0


def test_a_loaded_character_comes_to_life_by_itself(skin: Any, tmp_path: Any) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    loaded = bpy.data.objects["Skin"]
    tick_until(lambda: is_whole(loaded))


def test_dials_and_range_are_followed(skin: Any, scene: Any) -> None:
    tick_until(lambda: is_whole(skin))
    skin.softrig.softness = 0.8
    scene.frame_end = 60
    addon.module("blender.watch").tick(addon.session())
    tick_until(lambda: is_whole(skin))
    entry = addon.entry_of(skin)
    assert entry.settings.frequency_hz < 1.5
    assert entry.shot_status.frame_count == 60


def test_a_new_cage_size_prepares_again(skin: Any) -> None:
    nodes = addon.entry_of(skin).report["nodeCount"]
    skin.softrig.cage_nodes = 3000
    tick_until(lambda: addon.entry_of(skin).report.get("nodeCount", nodes) > 1.5 * nodes)
    tick_until(lambda: is_whole(skin))


def test_changed_keys_are_recorded_after_a_rest(skin: Any, scene: Any) -> None:
    measure.at_frame(skin, 24)
    tick_until(lambda: is_whole(skin))
    before = points(skin)
    rig = bpy.data.objects["Skin Rig"]
    rig.location.x = 12.0
    rig.keyframe_insert("location", frame=scenes.STOP_FRAME)
    bpy.context.view_layer.update()
    assert addon.entry_of(skin).state.stale
    tick_until(lambda: is_whole(skin))
    assert measure.largest(points(skin), before) > 1e-3
    assert scene.frame_current == 24


def test_at_rest_nothing_is_recorded(skin: Any) -> None:
    tick_until(lambda: is_whole(skin))
    with recordings() as recorded:
        for _ in range(60):
            addon.module("blender.watch").tick(addon.session())
            bpy.context.view_layer.update()
            time.sleep(0.02)
    assert not recorded


@contextmanager
def recordings() -> Iterator[list[int]]:
    """How many frames each recording was asked for."""
    recorded: list[int] = []
    tape = addon.module("blender.tape")
    original = tape.record
    tape.record = lambda *a, **k: (recorded.append(len(a[4])), original(*a, **k))[1]
    try:
        yield recorded
    finally:
        tape.record = original


def hang_things_on(skin: Any) -> None:
    """Blender says of all these that they moved when a dial of the skin is turned."""
    eye, button = (scenes.link(bpy.data.objects.new(name, None)) for name in ("Eye", "Button"))
    eye.parent, button.parent = skin, eye
    watcher = scenes.link(bpy.data.objects.new("Watcher", None))
    watcher.constraints.new("TRACK_TO").target = button
    skin.shape_key_add(name="Basis")
    skin.shape_key_add(name="Puff")


TURNS = {
    "softness": 0.8,
    "density": 400.0,
    "substeps": 7,
    "solver": "XPBD",
    "stiffness_kpa": 9.0,
    "map_stiffness": "tail2",
}


@pytest.mark.parametrize("dial", TURNS)
def test_a_turned_dial_is_no_change_of_the_rig(skin: Any, scene: Any, dial: str) -> None:
    hang_things_on(skin)
    scene.frame_set(24)
    tick_until(lambda: is_whole(skin))
    entry = addon.entry_of(skin)
    settings, maps = entry.settings, entry.maps
    for value in (getattr(skin.softrig, dial), TURNS[dial]):
        with recordings() as recorded:
            setattr(skin.softrig, dial, value)
            skin.update_tag()  # as the panel does, for settings of any kind
            bpy.context.view_layer.update()
            assert not entry.state.stale
            end = time.monotonic() + 2.0 * addon.module("model.schedule").REST_SECONDS
            while time.monotonic() < end:
                addon.module("blender.watch").tick(addon.session())
                bpy.context.view_layer.update()
                time.sleep(0.02)
        assert not recorded
    tick_until(lambda: is_whole(skin))
    assert (entry.settings, entry.maps) != (settings, maps)


def test_all_settings_tell_when_they_are_turned(skin: Any) -> None:
    """Whichever an artist changes in the panel."""
    told, session = [], addon.session()
    before = session.on_turn
    session.on_turn = lambda uuid, at_once: told.append(uuid)
    dialled = session.dials_changed
    session.dials_changed = told.append
    silent = []
    try:
        for name in addon.module("blender.properties").setting_names():
            told.clear()
            setattr(skin.softrig, name, getattr(skin.softrig, name))
            if skin.softrig.uuid not in told:
                silent.append(name)
    finally:
        session.on_turn = before
        del session.dials_changed
        assert session.dials_changed == dialled
    assert sorted(silent) == ["follower_uuid", "uuid"]


def move(skin: Any) -> None:
    skin.location.x += 0.1


def move_the_rig(skin: Any) -> None:
    skin.parent.location.y += 0.1


def hold_elsewhere(skin: Any) -> None:
    """It stands where it stood, at this frame."""
    place = skin.matrix_world.copy()
    skin.parent = None
    skin.matrix_world = place


def hold_by_a_constraint(skin: Any) -> None:
    skin.constraints.new("COPY_LOCATION").target = skin.parent


def puff(skin: Any) -> None:
    skin.data.shape_keys.key_blocks["Puff"].value = 0.5


CHANGES = [move, move_the_rig, hold_elsewhere, hold_by_a_constraint, puff]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("turned", ["before", "after", "not"])
def test_what_moves_while_a_dial_turns_is_seen(
    skin: Any, scene: Any, change: Callable[[Any], None], turned: str
) -> None:
    hang_things_on(skin)
    tick_until(lambda: is_whole(skin))
    bpy.context.view_layer.update()
    entry = addon.entry_of(skin)
    assert not entry.state.stale
    if turned == "before":
        skin.softrig.softness = 0.7
    change(skin)
    if turned == "after":
        skin.softrig.softness = 0.7
    bpy.context.view_layer.update()
    assert entry.state.stale
    tick_until(lambda: is_whole(skin))


def test_leaving_edit_mode_is_noticed(skin: Any) -> None:
    tick_until(lambda: is_whole(skin))
    nodes = addon.entry_of(skin).report["nodeCount"]
    scenes.make_active(skin)
    bpy.ops.object.mode_set(mode="EDIT")
    skin.softrig.cage_nodes = 3000
    for _ in range(20):
        addon.module("blender.watch").tick(addon.session())
        time.sleep(0.05)
    assert is_whole(skin), "what plays is given up in Edit Mode"
    with pytest.raises(RuntimeError, match="Leave Edit Mode first"):
        bpy.ops.softrig.prepare()
    addon.module("blender.watch").tick(addon.session())
    assert addon.entry_of(skin).state.phase.name == "WAITING"
    bpy.ops.object.mode_set(mode="OBJECT")
    tick_until(lambda: is_whole(skin))
    assert addon.entry_of(skin).report["nodeCount"] > 1.5 * nodes


def test_a_deleted_character_is_forgotten(skin: Any) -> None:
    bpy.data.objects.remove(skin)
    tick_until(lambda: not addon.session().entries)
    assert addon.session().api.byte_count() == 0


def test_a_long_tape_is_recorded_in_pieces(skin: Any, scene: Any) -> None:
    stage = addon.module("blender.stage")
    before, stage.CHUNK_SECONDS = stage.CHUNK_SECONDS, 0.0
    try:
        scene.frame_end = 45
        addon.module("blender.watch").tick(addon.session())
        assert addon.entry_of(skin).recorded_until == 1
        tick_until(lambda: is_whole(skin))
    finally:
        stage.CHUNK_SECONDS = before
    in_pieces = measure.at_frame(skin, 24)
    bpy.ops.softrig.prepare()
    assert measure.same_bits(measure.at_frame(skin, 24), in_pieces)


def test_a_turned_dial_shows_a_provisional_frame_first_and_says_so(skin: Any, scene: Any) -> None:
    scene.frame_end = 400
    scene.frame_set(30)
    skin.softrig.solver, skin.softrig.substeps = "XPBD", 60
    tick_until(lambda: is_whole(skin), 120.0)
    old, entry = points(skin), addon.entry_of(skin)
    describe = addon.module("model.schedule").describe
    assert "Provisional" not in describe(entry)
    skin.softrig.softness = 0.1
    tick_until(lambda: entry.provisional == 30)
    assert entry.shot_status.ready <= 30, "it came no sooner than the frame itself"
    provisional = points(skin)
    assert not measure.same_bits(provisional, old)
    assert describe(entry).startswith("Provisional frame; ")
    tick_until(lambda: not entry.state.owed)
    assert entry.provisional is None and "Provisional" not in describe(entry)
    right = points(skin)
    assert not measure.same_bits(provisional, right)
    # what was simulated is what it would be without anybody looking
    addon.session().record_again(entry)
    scene.frame_set(31)
    assert measure.same_bits(measure.at_frame(skin, 30), measure.evaluated(skin))
    assert measure.same_bits(points(skin), right)


def look_at_a_late_frame(skin: Any, scene: Any) -> Any:
    """Of a shot that takes a while, and is whole. The rig moves there."""
    scene.frame_end = 400
    for frame, place in ((290, 4.0), (305, 8.0)):
        skin.parent.location.x = place
        skin.parent.keyframe_insert("location", index=0, frame=frame)
    scene.frame_set(300)
    bpy.ops.softrig.record()
    skin.softrig.solver, skin.softrig.substeps = "XPBD", 100
    tick_until(lambda: is_whole(skin), 120.0)
    return addon.entry_of(skin)


def test_a_turning_dial_is_worked_on_before_blender_evaluates_it(skin: Any, scene: Any) -> None:
    """The first of several; the others come when it is answered."""
    stage, watch, session = (
        addon.module("blender.stage"),
        addon.module("blender.watch"),
        addon.session(),
    )
    entry, told = look_at_a_late_frame(skin, scene), []
    before = session.on_turn
    session.on_turn = lambda uuid, _: (
        told.append(uuid),
        watch.dial_turns(session, uuid, at_once=True),
    )
    seconds, stage.ANSWER_SECONDS = stage.ANSWER_SECONDS, 60.0
    try:
        skin.softrig.softness = 0.1
        assert told == [entry.uuid] and entry.asked == 300
        assert entry.settings == stage.settings_of(entry, skin)
        first = entry.settings
        skin.softrig.volume = 0.3
        assert entry.settings == first, "the second waits for the evaluation"
        stage.turn_dials(session, entry, skin, scene)
        assert entry.provisional == 300 or entry.is_ready(300)  # where this thread had to wait
        assert not entry.is_begun
    finally:
        session.on_turn, stage.ANSWER_SECONDS = before, seconds
    tick_until(lambda: is_whole(skin), 120.0)
    assert entry.settings == stage.settings_of(entry, skin), "the last value counts"


@pytest.mark.parametrize("comes", [True, False])
def test_what_blender_draws_after_a_turn_has_the_frame_that_comes_soon(
    skin: Any, scene: Any, comes: bool
) -> None:
    """And Blender is not held up by one that does not."""
    stage, session = addon.module("blender.stage"), addon.session()
    entry, seconds = look_at_a_late_frame(skin, scene), stage.ANSWER_SECONDS
    old = points(skin)
    try:
        if comes:
            stage.ANSWER_SECONDS = 60.0  # the machine may be busy
        else:
            session.api.ask_provisional = lambda *a: None
        skin.softrig.softness = 0.1
        started = time.monotonic()
        stage.turn_dials(session, entry, skin, scene)
        waited = time.monotonic() - started
    finally:
        stage.ANSWER_SECONDS = seconds
        session.api.__dict__.pop("ask_provisional", None)
    assert entry.asked == 300 and entry.provisional == (300 if comes else None)
    assert measure.same_bits(points(skin), old) != comes
    assert comes or seconds <= waited < 20 * seconds
    tick_until(lambda: is_whole(skin), 120.0)
    assert entry.provisional is None


def test_while_a_dial_is_dragged_provisional_frames_keep_coming(skin: Any, scene: Any) -> None:
    """Sooner than one can be made each event of the mouse brings another value."""
    stage, watch = addon.module("blender.stage"), addon.module("blender.watch")
    session, entry = addon.session(), look_at_a_late_frame(skin, scene)
    shown, started, read = [], time.monotonic(), session.api.read_provisional
    session.api.read_provisional = lambda *a: (shown.append(entry.settings), read(*a))[1]
    try:
        while len(shown) < 4 and time.monotonic() - started < 20.0:
            skin.softrig.softness = 0.1 + 0.02 * (time.monotonic() - started)
            stage.turn_dials(session, entry, skin, scene)
            watch.tick(session)
            time.sleep(0.001)
        assert len(set(shown)) == len(shown) >= 4, "the artist drags, and sees nothing"
    finally:
        del session.api.read_provisional
    tick_until(lambda: is_whole(skin), 120.0)
    assert entry.settings == stage.settings_of(entry, skin), "the last value counts"


def test_a_carrier_of_an_earlier_mesh_that_undo_brings_back_is_mended(
    skin: Any, scene: Any
) -> None:
    """The mesh is the newer one already: its step was remembered before our next turn."""
    scene.frame_set(24)
    tick_until(lambda: is_whole(skin))
    before, shown = points(skin), measure.evaluated(skin)
    assert before.any()
    holder = addon.module("blender.carrier").find_carrier(skin)
    earlier = bpy.data.meshes.new("Earlier")
    earlier.vertices.add(7)
    holder.data = earlier
    addon.module("blender.watch").after_undo(addon.session())
    assert not points(skin).any(), "no offsets but those of its own vertices"
    tick_until(lambda: not addon.entry_of(skin).state.stale and is_whole(skin))
    assert measure.same_bits(points(skin), before)
    assert measure.same_bits(measure.evaluated(skin), shown)


def test_a_render_waits_for_the_right_frame(skin: Any, scene: Any) -> None:
    skin.softrig.softness = 0.1
    scene.frame_set(24)
    assert addon.entry_of(skin).provisional is None


def test_what_blender_sends_while_it_goes_back_in_its_history_changes_nothing(
    skin: Any, scene: Any
) -> None:
    """Its data are those of neither moment; all is looked at when it has arrived."""
    files, updates = addon.module("handlers.files"), addon.module("handlers.updates")
    scene.frame_set(24)
    tick_until(lambda: is_whole(skin))
    before, entry = points(skin), addon.entry_of(skin)
    settings = entry.settings
    files.softrig_undo_pre(scene)
    skin.softrig.softness = 0.9
    scene.frame_set(12)
    updates.softrig_depsgraph_update_post(scene, bpy.context.evaluated_depsgraph_get())
    assert measure.same_bits(points(skin), before)
    assert not entry.state.stale and entry.settings == settings
    files.softrig_undo_post(scene)
    assert entry.state.stale and not measure.same_bits(points(skin), before)
    tick_until(lambda: is_whole(skin))
    assert entry.settings == addon.module("blender.stage").settings_of(entry, skin)


def test_a_history_that_ends_without_a_word_does_not_silence_us(skin: Any, scene: Any) -> None:
    addon.module("handlers.files").softrig_undo_pre(scene)
    assert addon.module("handlers.guard").usable() is None
    addon.module("handlers.timer").softrig_tick()
    assert addon.module("handlers.guard").usable() is addon.session()


def test_undo_that_may_have_mended_what_was_refused_brings_it_to_life(
    skin: Any, scene: Any
) -> None:
    """And the offsets that it brings back are not shown meanwhile."""
    stage, refusal = addon.module("blender.stage"), addon.module("model.rig").RefusalError
    scene.frame_set(24)
    tick_until(lambda: is_whole(skin))
    before, entry = points(skin), addon.entry_of(skin)
    stage.fail(addon.session(), entry, skin, scene, refusal("A bone is gone."))
    assert before.any() and not points(skin).any()
    holder = addon.module("blender.carrier").find_carrier(skin)
    addon.module("blender.compat").write_positions(holder.data, before)
    addon.module("handlers.files").softrig_undo_post(scene)
    assert not points(skin).any()
    tick_until(lambda: is_whole(skin))
    assert measure.same_bits(points(skin), before)
