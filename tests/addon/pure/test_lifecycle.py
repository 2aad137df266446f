# SPDX-License-Identifier: GPL-3.0-or-later
"""Any event may come in any state: what holds for all of them, and one character's story."""

import itertools

import pytest
from softrig.model.lifecycle import Effect, Event, Phase, State, record_again, transition

STATES = [
    State(phase, stale, owed)
    for phase, stale, owed in itertools.product(Phase, (False, True), (False, True))
]


@pytest.mark.parametrize("event", Event)
@pytest.mark.parametrize("state", STATES)
def test_every_event_is_answered_in_every_state(state: State, event: Event) -> None:
    after, effects = transition(state, event, "why")
    assert isinstance(after, State)
    assert all(isinstance(effect, Effect) for effect in effects)


@pytest.mark.parametrize("event", Event)
@pytest.mark.parametrize("state", STATES)
def test_nothing_is_recorded_or_set_without_a_shot(state: State, event: Event) -> None:
    after, effects = transition(state, event)
    if Effect.RECORD in effects or Effect.SET_PARAMS in effects:
        assert state.phase in (Phase.PREPARING, Phase.RECORDING, Phase.LIVE)
        assert after.phase in (Phase.RECORDING, Phase.LIVE)


@pytest.mark.parametrize("state", STATES)
def test_failing_and_leaving_free_everything(state: State) -> None:
    for event in (Event.FAILED, Event.POSTPONED, Event.CANCELLED, Event.REMOVED, Event.WANTED):
        assert Effect.DESTROY in transition(state, event)[1]


@pytest.mark.parametrize("state", STATES)
def test_what_failed_says_why(state: State) -> None:
    after, _ = transition(state, Event.FAILED, "no inside")
    assert after == State(Phase.FAILED, message="no inside")


@pytest.mark.parametrize("state", STATES)
def test_what_waits_says_why_and_begins_when_it_is_wanted(state: State) -> None:
    after, _ = transition(state, Event.POSTPONED, "Leave Edit Mode first.")
    assert after == State(Phase.WAITING, message="Leave Edit Mode first.")
    assert after.is_refused
    assert transition(after, Event.WANTED)[0] == State(Phase.PREPARING)


def follow(*events: Event) -> tuple[State, list[Effect]]:
    state, effects = State(), []
    for event in events:
        state, more = transition(state, event)
        effects += more
    return state, effects


def test_from_wanted_to_live() -> None:
    state, effects = follow(Event.WANTED, Event.PREPARED, Event.RECORDED)
    assert state == State(Phase.LIVE, owed=True)
    assert effects == [Effect.DESTROY, Effect.PREPARE, Effect.OPEN_SHOT, Effect.RECORD]


def test_a_missed_frame_is_shown_once_it_is_ready() -> None:
    live = (Event.WANTED, Event.PREPARED, Event.RECORDED, Event.FRAME_READY)
    state, effects = follow(*live, Event.FRAME_MISSED, Event.FRAME_READY, Event.FRAME_READY)
    assert effects.count(Effect.SHOW) == 2
    assert not state.owed


def test_a_provisional_frame_leaves_the_right_one_owed() -> None:
    state = State(Phase.LIVE, owed=True)
    assert transition(state, Event.PROVISIONAL_READY) == (state, (Effect.SHOW_PROVISIONAL,))
    assert transition(State(Phase.LIVE), Event.PROVISIONAL_READY) == (State(Phase.LIVE), ())


def test_late_news_of_a_cancelled_job_changes_nothing() -> None:
    state, _ = follow(Event.WANTED, Event.CANCELLED)
    assert transition(state, Event.PREPARED) == (state, ())
    assert transition(state, Event.RECORDED) == (state, ())


def test_a_stale_tape_is_recorded_without_losing_the_shot() -> None:
    state, _ = follow(Event.WANTED, Event.PREPARED, Event.RECORDED, Event.RIG_CHANGED)
    assert state.stale
    state, effects = record_again(state)
    assert effects == (Effect.RECORD,)
    assert not state.stale
    assert record_again(state) == (state, ())


def test_another_range_is_another_shot() -> None:
    state, effects = follow(
        Event.WANTED, Event.PREPARED, Event.RECORDED, Event.RIG_CHANGED, Event.RANGE_CHANGED
    )
    assert effects[-2:] == [Effect.OPEN_SHOT, Effect.RECORD]
    assert state == State(Phase.RECORDING, owed=True)
