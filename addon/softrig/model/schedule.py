# SPDX-License-Identifier: GPL-3.0-or-later
"""When it is time for what: compares what is with what is wanted, and lets the artist rest."""

from dataclasses import dataclass
from typing import Any

from ..native.bindings import Mesher
from ..native.inputs import FrameRange, ShotSettings
from .controls import Surroundings
from .lifecycle import Event, Phase
from .maps import MapChoices
from .session import BuildInputs, Entry, Session

REST_SECONDS = 0.3
"""Keys are recorded again after the artist has paused for this long."""
REBUILD_SECONDS = 0.6
"""Likewise for what needs preparing again: a dragged cage size must not start thirty jobs."""
ANSWER_SECONDS = 0.5
"""A dial that is turned on and on lets a provisional frame come first, but no longer than this."""


@dataclass(frozen=True)
class Wish:
    """What Blender's data ask for at this moment."""

    frames: FrameRange
    settings: ShotSettings
    build: BuildInputs
    frame: float
    maps: MapChoices = MapChoices()
    surroundings: Surroundings | None = None
    animation: tuple[Any, ...] = ()
    """What plays on it and on what carries it."""
    groups: tuple[str, ...] = ()
    """Names of the vertex groups."""
    playing: bool = False
    rendering: bool = False
    at_once: bool = False
    """Somebody waits: no artist is given time to rest."""
    editing: bool = False
    """The mesh is in Edit Mode: it cannot be read, and is about to change."""
    painting: bool = False
    """It is in a mode that changes it; what comes of that is read when the artist leaves it."""

    @property
    def busy(self) -> bool:
        """Nothing that can wait may be recorded now."""
        return self.rendering or (self.playing and not self.at_once)


def due_events(entry: Entry, wish: Wish, now: float) -> list[Event]:
    """Differences between the wish and what is there, as events; none while a bake is written."""
    phase = entry.state.phase
    if entry.bake is not None:
        return []
    if phase is Phase.WAITING:
        return [] if wish.busy or wish.editing else [Event.WANTED]
    if _rebuild_due(entry, wish, now) or _is_turned_back(entry, wish):
        return [Event.WANTED]
    if phase not in (Phase.LIVE, Phase.RECORDING):
        return []
    if wish.frames != entry.frames:
        return [] if wish.busy else [Event.RANGE_CHANGED]
    events = []
    moves_otherwise = wish.surroundings != entry.surroundings or wish.animation != entry.animation
    if moves_otherwise and not wish.busy and not entry.state.stale:
        events.append(Event.RIG_CHANGED)
    if wish.maps.without_detail() != entry.maps and not wish.busy and not wish.editing:
        events.append(Event.MAPS_CHANGED)
    turned, answered = wish.settings != entry.settings, _is_answer(entry, wish)
    if entry.state.owed and entry.is_ready(wish.frame) and not turned:
        events.append(Event.FRAME_READY)
    elif answered:
        events.append(Event.PROVISIONAL_READY)
    if turned and (answered or not awaits_answer(entry, wish, now)):
        events.append(Event.SETTINGS_CHANGED)
    return events


def _is_turned_back(entry: Entry, wish: Wish) -> bool:
    """The dials that the library refused have other values now."""
    failed = entry.state.phase is Phase.FAILED and not wish.busy
    return failed and entry.refused is not None and entry.refused != wish.settings


def _is_answer(entry: Entry, wish: Wish) -> bool:
    come = entry.shot_status.provisional_frame if entry.shot_status is not None else None
    wanted = come is not None and come == entry.asked == looked_at(entry, wish)
    return wanted and entry.state.owed and not entry.answered


def awaits_answer(entry: Entry, wish: Wish, now: float) -> bool:
    """A provisional frame is being made where the artist looks.

    Each change of a setting begins it anew: while a dial is dragged there would never be one.
    """
    asked = entry.asked is not None and entry.asked == looked_at(entry, wish)
    owed = entry.state.owed and not entry.is_ready(wish.frame)
    return (
        asked
        and owed
        and not entry.answered
        and not wish.at_once
        and (now - entry.asked_at < ANSWER_SECONDS)
    )


def looked_at(entry: Entry, wish: Wish) -> int | None:
    """The frame of the shot that somebody looks at and waits for; None while it plays."""
    if entry.frames is None or wish.busy or wish.frame != int(wish.frame):
        return None
    return min(max(int(wish.frame), entry.frames.first), entry.frames.last)


def provisional_due(entry: Entry, wish: Wish) -> int | None:
    """The frame to be asked for, or None when there is nothing to ask."""
    frame = looked_at(entry, wish)
    waits = entry.state.phase is Phase.LIVE and entry.state.owed and entry.bake is None
    if not waits or frame is None or frame == entry.asked or entry.is_ready(frame):
        return None
    return frame


def record_due(entry: Entry, wish: Wish, now: float) -> bool:
    """The tape is stale, the artist rests, and Blender is not busy."""
    rested = wish.at_once or now - entry.stale_since >= REST_SECONDS
    return entry.state.stale and rested and not wish.busy and entry.bake is None


def look_due(entry: Entry, wish: Wish, now: float) -> bool:
    """What preparing reads may be another than was read: it is compared, all of it.

    That takes a tenth of a second for a heavy mesh, so an artist who goes on editing comes first.
    """
    if wish.groups != entry.groups and entry.touched_at is None:
        entry.touched_at = now
    later = wish.busy or wish.editing or wish.painting or entry.bake is not None
    if entry.touched_at is None or later:
        return False
    return wish.at_once or now - entry.touched_at >= REST_SECONDS


def _rebuild_due(entry: Entry, wish: Wish, now: float) -> bool:
    later = wish.busy or (wish.editing and not wish.at_once)
    if entry.build is None or entry.build == wish.build or later:
        entry.build_changed_at = None
        return False
    if entry.build_changed_at is None:
        entry.build_changed_at = now
    return wish.at_once or now - entry.build_changed_at >= REBUILD_SECONDS


def describe(entry: Entry) -> str:
    """One line for the panel."""
    phase, status = entry.state.phase, entry.shot_status
    if entry.state.is_refused or (phase is Phase.ABSENT and entry.state.message):
        return entry.state.message
    if phase is Phase.PREPARING:
        why = "Mesh or bones changed: preparing" if entry.is_changed else "Preparing"
        return f"{why}, {100.0 * entry.progress:.0f} %"
    if phase is Phase.RECORDING and entry.frames:
        recorded = max(entry.recorded_until - entry.frames.pre_roll, 0)
        return f"Recording {recorded} of {entry.frames.count}"
    if phase is Phase.LIVE and status:
        early = entry.frames.pre_roll if entry.frames else 0
        ready, count = max(status.ready - early, 0), status.frame_count - early
        if ready < count:
            early = "Provisional frame; " if entry.provisional is not None else ""
            return f"{early}Simulating {ready} of {count}"
        return f"{ready} of {count} frames ready"
    return "Not prepared"


def describe_cage(report: dict[str, Any]) -> list[str]:
    """How large it is, who made it, and why that one."""
    makers = {Mesher.TETGEN: " by TetGen", Mesher.LATTICE: " by the lattice"}
    maker = makers.get(report.get("mesher"), "")
    size = f"Cage of {report['nodeCount']} nodes, {report['cellCount']} cells{maker}"
    least = report.get("leastNodeCount")
    notes = (f"{least} nodes are enough for this shape" if least else "", report.get("mesherNote"))
    return [size, *(note for note in notes if note)]


def repairs(report: dict[str, Any]) -> list[str]:
    """What preparing found in the mesh, in words; empty for a clean one."""
    sentences = (
        ("closedHoleCount", "{} holes closed"),
        ("openRimCount", "{} rims left open"),
        ("sheetCount", "{} sheets made thick"),
        ("flippedTriangleCount", "{} triangles flipped"),
        ("turnedPatchCount", "{} parts inside out, turned"),
        ("duplicateTriangleCount", "{} triangles given twice"),
        ("weldedVertexCount", "{} vertices welded"),
        ("swallowedPatchCount", "{} parts inside others left out"),
        ("cavityCount", "{} hollows"),
        ("copyCount", "{} cells copied where parts only touch"),
        ("borderEdgeCount", "{} open border edges"),
        ("nonManifoldEdgeCount", "{} edges with more than two faces"),
        ("degenerateTriangleCount", "{} triangles without area"),
        ("isolatedVertexCount", "{} loose vertices"),
        ("nonFiniteVertexCount", "{} vertices without a position"),
        ("unweightedVertexCount", "{} vertices without weights stay with the object"),
        ("outsideVertexCount", "{} vertices outside of the cage"),
        (
            "farVertexCount",
            "{} vertices lie farther out of the cage than a cell is long and lag behind: raise "
            "Flat Parts or Cage Size, or make them a rigid follower",
        ),
    )
    return [text.format(int(report[name])) for name, text in sentences if report.get(name)]


def fingerprint(session: Session) -> tuple[tuple[str, str], ...]:
    """Differs whenever the panel has something new to say."""
    entries = [
        (uuid, " ".join((describe(entry), entry.blocked, entry.elsewhere, entry.notice)))
        for uuid, entry in session.entries.items()
    ]
    findings = [
        (uuid, " ".join(finding.text for finding in found))
        for uuid, found in session.findings.items()
    ]
    riders = [(uuid, " ".join(names)) for uuid, names in session.riders.items()]
    told = (*session.bake_faults.items(), *session.still.items())
    return (*entries, *told, *findings, *riders)
