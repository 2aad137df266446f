# SPDX-License-Identifier: GPL-3.0-or-later
"""What a character goes through, as a pure function: state and event give state and effects.

Whoever sees an event (a door, a timer, a finished job) hands it in; whoever owns Blender's data
carries the effects out. Nothing here waits, calls or knows time.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto


class Phase(Enum):
    ABSENT = auto()
    """Nothing is prepared: just loaded, undone, or cancelled."""
    PREPARING = auto()
    RECORDING = auto()
    LIVE = auto()
    WAITING = auto()
    """Cannot be prepared at the moment; begins by itself once it can."""
    FAILED = auto()


class Event(Enum):
    WANTED = auto()
    """It should be there: added, loaded, duplicated; or its build inputs changed."""
    PREPARED = auto()
    RECORDED = auto()
    RIG_CHANGED = auto()
    """Keys, poses or bones may differ from the tape."""
    RANGE_CHANGED = auto()
    SETTINGS_CHANGED = auto()
    MAPS_CHANGED = auto()
    """Other painted maps, on the same cage."""
    FRAME_MISSED = auto()
    """A frame was asked for that is not ready yet."""
    FRAME_READY = auto()
    PROVISIONAL_READY = auto()
    """About what the frame that the artist looks at will be is there."""
    POSTPONED = auto()
    """What stands in the way goes by itself, such as Edit Mode."""
    FAILED = auto()
    CANCELLED = auto()
    REMOVED = auto()


class Effect(Enum):
    PREPARE = auto()
    """Gather the character and start to prepare it."""
    OPEN_SHOT = auto()
    RECORD = auto()
    """Write the tape from the first frame on."""
    SET_PARAMS = auto()
    SET_MAPS = auto()
    SHOW = auto()
    """Write the current frame into the carrier."""
    SHOW_PROVISIONAL = auto()
    DESTROY = auto()
    """Free what the library holds."""


@dataclass(frozen=True)
class State:
    phase: Phase = Phase.ABSENT
    stale: bool = False
    """The tape may differ from the rig."""
    owed: bool = False
    """The frame that the artist sees is not what it should be yet."""
    message: str = ""

    @property
    def is_refused(self) -> bool:
        """There is nothing to wait for; the message says why."""
        return self.phase in (Phase.FAILED, Phase.WAITING)


Step = tuple[State, tuple[Effect, ...]]


def _wanted(state: State) -> Step:
    return State(Phase.PREPARING), (Effect.DESTROY, Effect.PREPARE)


def _prepared(state: State) -> Step:
    if state.phase is not Phase.PREPARING:
        return state, ()
    return State(Phase.RECORDING, owed=True), (Effect.OPEN_SHOT, Effect.RECORD)


def _recorded(state: State) -> Step:
    if state.phase is not Phase.RECORDING:
        return state, ()
    return replace(state, phase=Phase.LIVE, owed=True), ()


def _rig_changed(state: State) -> Step:
    if state.phase in (Phase.LIVE, Phase.RECORDING):
        return replace(state, stale=True), ()
    return state, ()


def _range_changed(state: State) -> Step:
    if state.phase in (Phase.LIVE, Phase.RECORDING):
        return State(Phase.RECORDING, owed=True), (Effect.OPEN_SHOT, Effect.RECORD)
    return state, ()


def _settings_changed(state: State) -> Step:
    if state.phase in (Phase.LIVE, Phase.RECORDING):
        return replace(state, owed=True), (Effect.SET_PARAMS,)
    return state, ()


def _maps_changed(state: State) -> Step:
    if state.phase in (Phase.LIVE, Phase.RECORDING):
        return replace(state, owed=True), (Effect.SET_MAPS,)
    return state, ()


def _frame_missed(state: State) -> Step:
    return replace(state, owed=state.phase in (Phase.LIVE, Phase.RECORDING)), ()


def _frame_ready(state: State) -> Step:
    if not state.owed:
        return state, ()
    return replace(state, owed=False), (Effect.SHOW,)


def _provisional_ready(state: State) -> Step:
    return state, (Effect.SHOW_PROVISIONAL,) if state.owed else ()


def _removed(state: State) -> Step:
    return State(), (Effect.DESTROY,)


_STEPS: dict[Event, Callable[[State], Step]] = {
    Event.WANTED: _wanted,
    Event.PREPARED: _prepared,
    Event.RECORDED: _recorded,
    Event.RIG_CHANGED: _rig_changed,
    Event.RANGE_CHANGED: _range_changed,
    Event.SETTINGS_CHANGED: _settings_changed,
    Event.MAPS_CHANGED: _maps_changed,
    Event.FRAME_MISSED: _frame_missed,
    Event.FRAME_READY: _frame_ready,
    Event.PROVISIONAL_READY: _provisional_ready,
    Event.REMOVED: _removed,
}


def transition(state: State, event: Event, message: str = "") -> Step:
    """The state after an event, and what is to be done for it. Any event may come in any state."""
    if event is Event.POSTPONED:
        return State(Phase.WAITING, message=message), (Effect.DESTROY,)
    if event is Event.FAILED:
        return State(Phase.FAILED, message=message), (Effect.DESTROY,)
    if event is Event.CANCELLED:
        return State(Phase.ABSENT, message=message), (Effect.DESTROY,)
    return _STEPS[event](state)


def record_again(state: State) -> Step:
    """The artist paused for breath: the stale tape is written anew. The shot goes on meanwhile."""
    if not state.stale or state.phase not in (Phase.LIVE, Phase.RECORDING):
        return state, ()
    return State(Phase.RECORDING, owed=True), (Effect.RECORD,)
