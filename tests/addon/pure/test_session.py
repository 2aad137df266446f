# SPDX-License-Identifier: GPL-3.0-or-later
"""The session: one entry a character, nothing leaked, nothing stale used."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fake import DONE, RUNNING, FakeApi, failed
from sample import BUILD, FRAMES, make_character, make_rows
from softrig.model.controls import CUT, DIAL_COUNT
from softrig.model.lifecycle import Event, Phase, State
from softrig.model.rig import RefusalError
from softrig.model.session import Entry, Session, close_session, current, open_session
from softrig.native.errors import BadFileError
from softrig.native.inputs import FrameRange, InsideInput, MapsInput, ShotSettings


@pytest.fixture
def fake() -> FakeApi:
    return FakeApi()


@pytest.fixture
def session(fake: FakeApi) -> Session:
    return Session(fake)


def prepared(session: Session, uuid: str = "u") -> Entry:
    entry = session.open_entry(uuid, "Skin", "Scene")
    session.start_preparing(entry, make_character(), BUILD)
    return entry


def live(session: Session, uuid: str = "u") -> Entry:
    entry = prepared(session, uuid)
    session.api.job = DONE
    session.open_shot(entry, FRAMES, ShotSettings())
    session.write_rows(entry, make_rows())
    return entry


def test_preparing_is_polled_until_it_ends(session: Session, fake: FakeApi) -> None:
    entry = prepared(session)
    assert session.poll_preparing(entry) is None
    fake.job = DONE
    assert session.poll_preparing(entry) == (Event.PREPARED, "")
    assert entry.report["nodeCount"] == 8


def test_the_sentence_of_a_failure_reaches_the_entry(session: Session, fake: FakeApi) -> None:
    entry = prepared(session)
    fake.job = failed("nothing inside")
    assert session.poll_preparing(entry) == (Event.FAILED, "nothing inside")


def test_what_was_stored_is_opened_without_preparing(session: Session, fake: FakeApi) -> None:
    entry, shape = session.open_entry("u", "Skin", "Scene"), make_character()
    fake.job = DONE
    session.open_prepared(entry, shape, BUILD, b"prepared")
    assert session.poll_preparing(entry) == (Event.PREPARED, "")
    assert fake.calls["create_character"] == 0
    assert entry.fingerprint == shape.fingerprint()
    assert entry.key == BUILD.key(shape)
    assert len(entry.buffer) == len(shape.positions)


def test_bytes_that_are_none_change_nothing(session: Session) -> None:
    entry = session.open_entry("u", "Skin", "Scene")
    with pytest.raises(BadFileError):
        session.open_prepared(entry, make_character(), BUILD, b"something")
    assert entry.character is None and entry.build is None and not entry.key


def test_a_cage_of_another_maker_is_another_one() -> None:
    shape = make_character()
    builds = (BUILD, replace(BUILD, mesher=2), replace(BUILD, node_count=201))
    assert len({build.key(shape) for build in builds}) == 3


def test_another_wish_for_the_inside_is_another_cage() -> None:
    shape = make_character()
    wishes = (
        InsideInput(),
        InsideInput(largest_hole=0.25),
        InsideInput(sheet_thickness=0.25),
        InsideInput(fills_hollows=True),
        InsideInput(joins_touching=True),
    )
    builds = [replace(BUILD, inside=wish) for wish in wishes]
    assert len({build.key(shape) for build in builds}) == len(wishes)
    assert len(set(builds)) == len(wishes), "what differs is prepared again"


def test_files_from_before_there_were_such_wishes_are_not_prepared_again() -> None:
    shape = make_character()
    before = f"{shape.fingerprint()} {shape.maps_fingerprint()} 200 0"
    assert BUILD.key(shape) == before


def test_maps_are_set_once_and_make_another_key(session: Session, fake: FakeApi) -> None:
    entry, shape = live(session), make_character()
    before, entry.is_kept = entry.key, True
    assert not session.set_maps(entry, shape)
    painted = replace(shape, maps=MapsInput(mass=np.full(shape.vertex_count, 2.0, np.float32)))
    assert session.set_maps(entry, painted)
    assert not session.set_maps(entry, painted)
    assert fake.calls["set_maps"] == 1
    assert fake.maps is painted.maps
    assert entry.key != before and not entry.is_kept
    assert entry.fingerprint == shape.fingerprint(), "the cage does not depend on mass"


def test_the_tape_can_be_written_in_pieces(session: Session, fake: FakeApi) -> None:
    entry = prepared(session)
    session.open_shot(entry, FRAMES, ShotSettings())
    rows = make_rows()
    assert session.write_rows(entry, rows[:10]) == FRAMES.count - 10
    assert session.write_rows(entry, rows[10:]) == 0


def make_dials(count: int) -> np.ndarray:
    dials = np.zeros((count, DIAL_COUNT), np.float32)
    dials[:, 0], dials[:, -1] = 1.0, -9.81
    return dials


def test_dials_are_written_before_the_rows_that_wake_the_worker(
    session: Session, fake: FakeApi
) -> None:
    entry = prepared(session)
    session.open_shot(entry, FRAMES, ShotSettings())
    order = []
    fake.write_tape = lambda *a: (order.append(len(fake.controls)), FRAMES.first)[1]
    rows, dials = make_rows(), make_dials(FRAMES.count)
    session.write_rows(entry, rows[:10], dials[:10])
    session.write_rows(entry, rows[10:], dials[10:])
    assert order == [1, 2]
    assert [first for first, _ in fake.controls] == [FRAMES.first, FRAMES.first + 10]


def test_rest_gravity_is_that_of_the_first_shown_frame(session: Session, fake: FakeApi) -> None:
    entry = prepared(session)
    frames = replace(FRAMES, pre_roll=6)
    session.open_shot(entry, frames, ShotSettings())
    dials = make_dials(frames.shot_count)
    dials[:, 0] = np.arange(frames.shot_count)
    rows = np.concatenate([make_rows()[:6], make_rows()])
    session.write_rows(entry, rows[:4], dials[:4])
    assert entry.rest_gravity == (0.0, 0.0, 0.0)
    session.write_rows(entry, rows[4:], dials[4:])
    assert entry.rest_gravity == pytest.approx((0.0, 0.0, -9.81 * 6))


def test_a_cut_counts_where_it_goes_on_in_any_piece(session: Session, fake: FakeApi) -> None:
    entry = prepared(session)
    session.open_shot(entry, FRAMES, ShotSettings())
    dials = make_dials(FRAMES.count)
    dials[8:9, CUT] = dials[10:15, CUT] = 1.0  # the second goes on where a piece begins
    for at in (0, 10):
        end = 10 if at == 0 else FRAMES.count
        session.write_rows(entry, make_rows()[at:end], dials[at:end])
    assert np.flatnonzero(entry.controls[:, 8]).tolist() == [8, 10]


def test_nothing_is_cut_where_a_cut_goes_on_over_two_pieces(
    session: Session, fake: FakeApi
) -> None:
    entry = prepared(session)
    session.open_shot(entry, FRAMES, ShotSettings())
    dials = make_dials(FRAMES.count)
    dials[8:15, CUT] = 1.0
    for at, end in ((0, 10), (10, FRAMES.count)):
        session.write_rows(entry, make_rows()[at:end], dials[at:end])
    assert np.flatnonzero(entry.controls[:, 8]).tolist() == [8]


def test_turning_a_keyed_dial_makes_the_tape_stale(session: Session) -> None:
    entry = live(session)
    session.dispatch(entry, Event.PREPARED)
    entry.state = State(Phase.LIVE)
    session.dials_changed("somebody else")
    assert not entry.state.stale
    session.dials_changed("u")
    assert entry.state.stale


def test_what_a_bake_is_made_of_has_a_name_once_it_is_known(session: Session) -> None:
    entry = live(session)
    entry.state = State(Phase.LIVE)
    assert session.bake_source(entry) == ""
    session.name_motion(entry)
    first = session.bake_source(entry)
    assert first and session.bake_source(entry) == first
    entry.settings = ShotSettings(substeps=3)
    assert session.bake_source(entry) not in ("", first)
    entry.settings = ShotSettings()
    entry.rows[3, 5] += 1.0
    session.name_motion(entry)
    assert session.bake_source(entry) != first
    entry.state = State(Phase.LIVE, stale=True)
    assert session.bake_source(entry) == ""


def test_a_shown_frame_is_one_native_call_into_the_same_buffer(
    session: Session, fake: FakeApi
) -> None:
    entry = live(session)
    fake.ready = FRAMES.count
    buffer, before = entry.buffer, fake.calls.total()
    for frame in range(1, 11):
        assert session.read_offsets(entry, frame)
    assert fake.calls.total() == before + 10
    assert entry.buffer is buffer


def test_a_frame_that_is_not_ready_is_zero(session: Session, fake: FakeApi) -> None:
    entry = live(session)
    entry.buffer.fill(3.0)
    assert not session.read_offsets(entry, 5)
    assert not entry.buffer.any()
    assert session.read_offsets(entry, 5, wait_seconds=1.0)
    assert fake.calls["wait_frame"] == 1


def test_another_range_replaces_the_shot(session: Session, fake: FakeApi) -> None:
    entry = live(session)
    session.open_shot(entry, FRAMES, ShotSettings())
    assert entry.recorded_until == 0
    assert fake.calls["destroy_shot"] == 1
    assert len(fake.alive) == 2


def test_forgetting_frees_bake_shot_and_character(session: Session, fake: FakeApi) -> None:
    entry = live(session)
    session.start_bake(entry, "a.pc2")
    session.forget("u")
    assert not fake.alive
    session.forget("u")


def test_what_is_missing_is_forgotten_but_not_what_is_being_added(
    session: Session, fake: FakeApi
) -> None:
    for uuid in ("kept", "gone", "new"):
        live(session, uuid)
    session.adding["Skin"] = "new"
    session.forget_missing(["kept"])
    assert set(session.entries) == {"kept", "new"}


def test_ids_that_went_stale_behind_our_back_are_survived(session: Session, fake: FakeApi) -> None:
    live(session)
    fake.shutdown()
    session.forget("u")
    assert not session.entries


def test_closing_leaves_no_byte(session: Session, fake: FakeApi) -> None:
    live(session, "a")
    live(session, "b")
    assert session.close() == 0


def test_without_a_library_there_is_a_session_with_a_sentence() -> None:
    session = Session(None, "The library is missing.")
    session.open_entry("u", "Skin", "Scene")
    session.forget_missing(())
    assert session.close() == 0


def test_there_is_one_session_for_all_doors(session: Session) -> None:
    assert current() is None
    open_session(session)
    assert current() is session
    close_session()
    assert current() is None
    close_session()


def test_readiness_goes_by_the_later_neighbour(session: Session, fake: FakeApi) -> None:
    entry = live(session)
    fake.ready = 3
    session.refresh(entry)
    assert entry.is_ready(3.0) and entry.is_ready(2.5) and entry.is_ready(-10)
    assert not entry.is_ready(3.5) and not entry.is_ready(1000)


def test_progress_is_that_of_the_work_at_hand(session: Session, fake: FakeApi) -> None:
    entry = session.open_entry("u", "Skin", "Scene")
    assert entry.progress == 0.0
    session.dispatch(entry, Event.WANTED)
    session.start_preparing(entry, make_character(), BUILD)
    assert entry.progress == RUNNING.progress
    session.dispatch(entry, Event.PREPARED)
    session.open_shot(entry, FRAMES, ShotSettings())
    session.write_rows(entry, make_rows()[:6])
    assert entry.progress == 6 / FRAMES.count


def test_on_the_real_library_the_shot_is_there_and_all_bytes_go(api: Any) -> None:
    session = Session(api)
    entry = prepared(session)
    while session.poll_preparing(entry) is None:
        pass
    session.open_shot(entry, FRAMES, ShotSettings())
    assert session.write_rows(entry, make_rows()) == 0
    assert session.read_offsets(entry, FRAMES.last, wait_seconds=60.0)
    assert np.isfinite(entry.buffer).all()
    assert session.close() == 0


def test_a_range_beyond_the_library_leaves_the_shot_as_it_was(
    session: Session, fake: FakeApi
) -> None:
    entry = live(session)
    with pytest.raises(RefusalError, match="Shorten"):
        session.open_shot(entry, FrameRange(1, 2_000_000, 24.0), ShotSettings())
    assert entry.frames == FRAMES and entry.shot in fake.alive


def test_other_settings_or_keys_want_another_provisional_frame(session: Session) -> None:
    entry = live(session)
    session.ask_provisional(entry, 9)
    assert entry.asked == 9 and not entry.answered
    assert session.read_provisional(entry) and entry.answered
    assert (entry.buffer == 2.0).all()
    session.set_params(entry, ShotSettings(frequency_hz=4.0))
    assert entry.asked is None
    session.ask_provisional(entry, 9)
    entry.recorded_until = 0
    session.write_rows(entry, make_rows())
    assert entry.asked is None
    session.ask_provisional(entry, 9)
    session.close_shot(entry)
    assert entry.asked is None and entry.provisional is None


def test_an_answer_is_waited_for_but_not_for_long(session: Session, fake: FakeApi) -> None:
    entry, seconds = live(session), iter(range(1000))
    session.now = lambda: float(next(seconds))
    fake.ready = 5
    session.ask_provisional(entry, 9)
    assert session.await_answer(entry, 3.0) is Event.PROVISIONAL_READY
    fake.provisional = None
    before = session.now()
    assert session.await_answer(entry, 3.0) is None
    assert session.now() - before < 10.0
    fake.ready = 9
    assert session.await_answer(entry, 3.0) is Event.FRAME_READY, "it came while one waited"


def test_points_go_before_the_rows_that_they_belong_to(session: Session, fake: FakeApi) -> None:
    entry = prepared(session)
    fake.job = DONE
    session.open_shot(entry, FRAMES, ShotSettings())
    points, rows = np.ones((FRAMES.count, len(entry.buffer)), np.float32), make_rows()
    session.follow_skin(entry, points[0])
    order: list[str] = []
    write_skin, write_tape = fake.write_skin, fake.write_tape
    fake.write_skin = lambda *a: (order.append("skin"), write_skin(*a))[1]
    fake.write_tape = lambda *a: (order.append("tape"), write_tape(*a))[1]
    session.write_rows(entry, rows[:10], skins=points[:10])
    assert session.write_rows(entry, rows[10:], skins=points[10:]) == 0
    assert order == ["skin", "tape", "skin", "tape"] and fake.skins == FRAMES.count
    session.name_motion(entry)
    motion = entry.motion
    for first in (0, 10):
        entry.recorded_until = first
        end = 10 if first == 0 else FRAMES.count
        session.write_rows(entry, rows[first:end], skins=points[first:end] + (first > 0))
    session.name_motion(entry)
    assert entry.motion != motion
