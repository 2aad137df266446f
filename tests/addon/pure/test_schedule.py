# SPDX-License-Identifier: GPL-3.0-or-later
"""When what is due, and that the artist is left alone otherwise."""

from dataclasses import replace

import pytest
from softrig.model.controls import Surroundings
from softrig.model.lifecycle import Event, Phase, State
from softrig.model.maps import MapChoice, MapChoices
from softrig.model.schedule import (
    ANSWER_SECONDS,
    REBUILD_SECONDS,
    REST_SECONDS,
    Wish,
    describe,
    describe_cage,
    due_events,
    provisional_due,
    record_due,
    repairs,
)
from softrig.model.session import BuildInputs, Entry
from softrig.native.bindings import Mesher
from softrig.native.inputs import FrameRange, ShotSettings, ShotStatus

FRAMES = FrameRange(10, 20, 24.0)
BUILD = BuildInputs(100, 1000, "ear")
WISH = Wish(FRAMES, ShotSettings(), BUILD, 12.0)


@pytest.fixture
def live() -> Entry:
    entry = Entry("u", "Skin", "Scene", state=State(Phase.LIVE), build=BUILD)
    entry.frames, entry.settings = FRAMES, ShotSettings()
    entry.shot_status = ShotStatus(20, 20, 5, True, 0, 0.0)
    return entry


def test_nothing_is_due_when_all_is_as_wished(live: Entry) -> None:
    assert due_events(live, WISH, 0.0) == []
    assert not record_due(live, WISH, 100.0)


def test_settings_and_range_are_followed(live: Entry) -> None:
    softer = replace(WISH, settings=ShotSettings(frequency_hz=1.0))
    assert due_events(live, softer, 0.0) == [Event.SETTINGS_CHANGED]
    longer = replace(WISH, frames=FrameRange(10, 30, 24.0))
    assert due_events(live, longer, 0.0) == [Event.RANGE_CHANGED]
    faster = replace(WISH, frames=FrameRange(10, 20, 30.0))
    assert due_events(live, faster, 0.0) == [Event.RANGE_CHANGED]


def test_a_dial_that_was_refused_and_is_turned_begins_anew(live: Entry) -> None:
    live.state = State(Phase.FAILED, message="softness is 7; it must be from 0 to 1.")
    assert due_events(live, WISH, 0.0) == []
    live.refused = ShotSettings(frequency_hz=0.0)
    assert due_events(live, replace(WISH, settings=live.refused), 0.0) == []
    assert due_events(live, WISH, 0.0) == [Event.WANTED]


def test_other_maps_are_followed_once_nobody_edits(live: Entry) -> None:
    painted = replace(WISH, maps=MapChoices(mass=MapChoice("heavy", 4.0)))
    assert due_events(live, painted, 0.0) == [Event.MAPS_CHANGED]
    assert due_events(live, replace(painted, editing=True), 0.0) == []
    assert due_events(live, replace(painted, playing=True), 0.0) == []
    live.maps = painted.maps
    assert due_events(live, painted, 0.0) == []
    # detail is a matter of the cage
    assert (
        due_events(live, replace(painted, maps=replace(painted.maps, detail=MapChoice("x"))), 0)
        == []
    )
    finer = replace(WISH, build=replace(BUILD, detail=MapChoice("fine", 2.0)), at_once=True)
    assert due_events(live, finer, 0.0) == [Event.WANTED]


def test_other_surroundings_make_the_tape_stale_once(live: Entry) -> None:
    there = Surroundings((0.0, 0.0, -9.81), (12,))
    moved = replace(WISH, surroundings=there)
    assert due_events(live, moved, 0.0) == [Event.RIG_CHANGED]
    assert due_events(live, replace(moved, playing=True), 0.0) == []
    live.state = State(Phase.LIVE, stale=True)
    assert due_events(live, moved, 0.0) == []
    live.state, live.surroundings = State(Phase.LIVE), there
    assert due_events(live, moved, 0.0) == []


def test_the_panel_counts_the_frames_that_show(live: Entry) -> None:
    live.frames = replace(FRAMES, pre_roll=10)
    live.shot_status = ShotStatus(30, 30, 5, True, 0, 0.0)
    assert describe(live) == "Simulating 0 of 20"
    assert not live.is_ready(10.0)
    live.shot_status = replace(live.shot_status, ready=11)
    assert describe(live) == "Simulating 1 of 20"
    assert live.is_ready(10.0) and live.is_ready(3.0) and not live.is_ready(11.0)
    live.shot_status = replace(live.shot_status, ready=30)
    assert describe(live) == "20 of 20 frames ready"
    live.state, live.recorded_until = State(Phase.RECORDING), 14
    assert describe(live) == "Recording 4 of 20"


def test_the_range_waits_for_the_end_of_playback(live: Entry) -> None:
    longer = replace(WISH, frames=FrameRange(10, 30, 24.0), playing=True)
    assert due_events(live, longer, 0.0) == []


def test_an_owed_frame_is_due_when_it_is_ready(live: Entry) -> None:
    live.state = State(Phase.LIVE, owed=True)
    assert due_events(live, replace(WISH, frame=14.0), 0.0) == [Event.FRAME_READY]
    assert due_events(live, replace(WISH, frame=14.5), 0.0) == []
    assert due_events(live, replace(WISH, frame=15.0), 0.0) == []
    assert due_events(live, replace(WISH, frame=-3.0), 0.0) == [Event.FRAME_READY]


def test_a_frame_that_takes_a_while_is_asked_for_once(live: Entry) -> None:
    there, later = replace(WISH, frame=14.0), replace(WISH, frame=20.0)
    assert provisional_due(live, later) is None  # nobody misses it
    live.state = State(Phase.LIVE, owed=True)
    assert provisional_due(live, there) is None  # it is ready
    assert provisional_due(live, later) == 20
    assert provisional_due(live, replace(WISH, frame=99.0)) == FRAMES.last
    assert provisional_due(live, replace(later, frame=20.5)) is None
    assert provisional_due(live, replace(later, playing=True)) is None
    assert provisional_due(live, replace(later, rendering=True)) is None
    live.asked = 20
    assert provisional_due(live, later) is None
    assert provisional_due(live, replace(WISH, frame=21.0)) == 21
    live.state = State(Phase.RECORDING, owed=True)
    assert provisional_due(live, replace(WISH, frame=21.0)) is None


def test_an_answer_is_shown_once_and_only_where_the_artist_still_looks(live: Entry) -> None:
    live.state, live.asked = State(Phase.LIVE, owed=True), 20
    later = replace(WISH, frame=20.0)
    assert due_events(live, later, 0.0) == []
    live.shot_status = replace(live.shot_status, provisional_frame=20)
    assert due_events(live, later, 0.0) == [Event.PROVISIONAL_READY]
    assert due_events(live, replace(WISH, frame=21.0), 0.0) == []
    live.shot_status = replace(live.shot_status, provisional_frame=19)
    assert due_events(live, later, 0.0) == []
    live.shot_status = replace(live.shot_status, provisional_frame=20, ready=20)
    assert due_events(live, later, 0.0) == [Event.FRAME_READY]
    live.shot_status = replace(live.shot_status, ready=5)
    live.answered = True
    assert due_events(live, later, 0.0) == []


def test_a_dial_that_is_turned_on_and_on_lets_the_frame_come_first(live: Entry) -> None:
    live.state, live.asked, live.asked_at = State(Phase.LIVE, owed=True), 20, 50.0
    turned = replace(WISH, frame=20.0, settings=ShotSettings(frequency_hz=1.0))
    assert due_events(live, turned, 50.1) == []
    assert due_events(live, replace(turned, at_once=True), 50.1) == [Event.SETTINGS_CHANGED]
    assert due_events(live, replace(turned, frame=21.0), 50.1) == [Event.SETTINGS_CHANGED]
    assert due_events(live, turned, 50.1 + ANSWER_SECONDS) == [Event.SETTINGS_CHANGED]
    live.shot_status = replace(live.shot_status, provisional_frame=20)
    both = [Event.PROVISIONAL_READY, Event.SETTINGS_CHANGED]
    assert due_events(live, turned, 50.1) == both
    live.answered = True
    assert due_events(live, turned, 50.1) == [Event.SETTINGS_CHANGED]


def test_the_panel_marks_a_provisional_frame(live: Entry) -> None:
    live.provisional = 20
    assert describe(live) == "Provisional frame; Simulating 5 of 20"


def test_recording_waits_for_rest_and_for_an_idle_window(live: Entry) -> None:
    live.state, live.stale_since = State(Phase.LIVE, stale=True), 50.0
    assert not record_due(live, WISH, 50.0 + 0.5 * REST_SECONDS)
    assert record_due(live, WISH, 50.1 + REST_SECONDS)
    assert not record_due(live, replace(WISH, playing=True), 90.0)
    assert not record_due(live, replace(WISH, rendering=True), 90.0)
    live.bake = 1
    assert not record_due(live, WISH, 90.0)


def test_a_dragged_cage_size_prepares_once_at_its_end(live: Entry) -> None:
    for step in range(10):
        dragged = replace(WISH, build=replace(BUILD, node_count=1000 + step))
        assert due_events(live, dragged, 0.1) == []
    assert due_events(live, dragged, 0.1 + REBUILD_SECONDS) == [Event.WANTED]
    assert due_events(live, WISH, 0.1 + REBUILD_SECONDS) == []


def test_the_cage_waits_for_the_end_of_edit_mode(live: Entry) -> None:
    other = replace(WISH, build=replace(BUILD, vertex_count=120), editing=True)
    for now in (0.0, 2.0 * REBUILD_SECONDS):
        assert due_events(live, other, now) == []
    left = replace(other, editing=False)
    due_events(live, left, 5.0)
    assert due_events(live, left, 5.1 + REBUILD_SECONDS) == [Event.WANTED]


def test_what_was_refused_in_edit_mode_begins_after_it(live: Entry) -> None:
    live.state = State(Phase.WAITING, message="Leave Edit Mode first.")
    assert describe(live) == "Leave Edit Mode first."
    assert due_events(live, replace(WISH, editing=True), 0.0) == []
    assert due_events(live, WISH, 0.0) == [Event.WANTED]


def test_what_failed_is_left_alone(live: Entry) -> None:
    live.state = State(Phase.FAILED, message="This mesh encloses nothing.")
    assert due_events(live, WISH, 100.0) == []


def test_nothing_changes_while_a_bake_is_written(live: Entry) -> None:
    live.bake = 1
    other = replace(WISH, settings=ShotSettings(substeps=3), frames=FrameRange(1, 2, 24.0))
    assert due_events(live, other, 0.0) == []


def test_the_panel_is_told_in_words(live: Entry) -> None:
    assert describe(live) == "Simulating 5 of 20"
    live.shot_status = replace(live.shot_status, ready=20)
    assert describe(live) == "20 of 20 frames ready"
    live.state = State(Phase.FAILED, message="This mesh encloses nothing.")
    assert describe(live) == "This mesh encloses nothing."


def test_only_what_was_found_is_reported() -> None:
    assert repairs({"borderEdgeCount": 12, "nonManifoldEdgeCount": 0}) == ["12 open border edges"]
    assert repairs({"closedHoleCount": 2, "turnedPatchCount": 1, "copyCount": 0}) == [
        "2 holes closed",
        "1 parts inside out, turned",
    ]
    assert repairs({}) == []


def test_what_the_cage_does_not_reach_is_told_with_what_to_do() -> None:
    outside, *further = repairs({"outsideVertexCount": 40, "farVertexCount": 7})
    assert outside == "40 vertices outside of the cage"
    assert further == [
        "7 vertices lie farther out of the cage than a cell is long and lag behind: raise "
        "Flat Parts or Cage Size, or make them a rigid follower"
    ]
    assert len(repairs({"outsideVertexCount": 40, "farVertexCount": 0})) == 1


def test_the_report_tells_who_made_the_cage_and_why() -> None:
    sizes = {"nodeCount": 90, "cellCount": 200, "mesherNote": ""}
    assert describe_cage({**sizes, "mesher": Mesher.LATTICE}) == [
        "Cage of 90 nodes, 200 cells by the lattice"
    ]
    filled = describe_cage({**sizes, "mesher": Mesher.TETGEN})
    assert filled == ["Cage of 90 nodes, 200 cells by TetGen"]
    assert describe_cage({**sizes, "mesher": Mesher.LATTICE, "mesherNote": "Why."})[1] == "Why."
    assert describe_cage({**sizes, "mesher": Mesher.AUTOMATIC}) == ["Cage of 90 nodes, 200 cells"]
    needs = describe_cage({**sizes, "mesher": Mesher.LATTICE, "leastNodeCount": 200})
    assert needs[1:] == ["200 nodes are enough for this shape"]


def test_who_waits_is_not_made_to_wait_for_a_rest(live: Entry) -> None:
    hasty = replace(WISH, build=replace(BUILD, vertex_count=120), playing=True, at_once=True)
    assert due_events(live, hasty, 0.0) == [Event.WANTED]
    live.state = State(Phase.LIVE, stale=True)
    live.stale_since = 0.0
    assert record_due(live, replace(WISH, at_once=True), 0.0)
    assert not record_due(live, replace(WISH, at_once=True, rendering=True), 0.0)


def test_switching_an_armature_prepares_again(live: Entry) -> None:
    other = replace(WISH, build=replace(BUILD, armatures=(("Armature", False),)), at_once=True)
    assert due_events(live, other, 0.0) == [Event.WANTED]
