# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's memory while Blender runs: an entry for each character, known by its uuid.

Holds native ids and numpy buffers, never anything of Blender's.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..native.arrays import FloatArray
from ..native.errors import NativeError
from ..native.inputs import FrameRange, JobStatus, ShotSettings, ShotStatus
from .checks import check_character, check_frames, check_rows
from .controls import CUT, check_dials, controls_from_dials, rest_gravity
from .diagnostics import Finding
from .entry import BuildInputs, Entry
from .followers import FollowerShape, follow, leave, name_motion, rewind, write_rows
from .lifecycle import Effect, Event, Phase, record_again, transition
from .rig import Character, Shape

log = logging.getLogger(__name__)

PEEP_SECONDS = 0.001


class Session:
    """All characters and the library, or the sentence why there is no library."""

    on_turn: Callable[[str, bool], None] | None = None
    """Whom to tell of a turned dial; nobody while no door is open."""
    in_save: bool = False
    """Blender writes the file: the carriers show nothing until it has."""
    saved_frames: tuple[tuple[str, int, int], ...] = ()
    """In background: name, first and last of each scene as its file has them."""
    fault: str = ""
    """The last error that a door caught."""
    showers: set[tuple[str, str | None]] | None = None
    """Names and files of the objects that show others; None until somebody asks."""

    def __init__(
        self, api: Any, problem: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.api = api
        self.problem = problem
        self.now = clock
        self.entries: dict[str, Entry] = {}
        self.adding: dict[str, str] = {}
        """Object name to uuid while the artist waits for Add Softrig."""
        self.notices: dict[str, str] = {}
        """Object name to the sentence of what was refused or went wrong there."""
        self.still: dict[str, str] = {}
        """Full object name to the sentence why a character of another file stands still."""
        self.bake_faults: dict[str, str] = {}
        """Identity to what is wrong with the point cache that ought to play, behind "the bake"."""
        self.findings: dict[str, tuple[Finding, ...]] = {}
        """Identity to the traps that its character is in."""
        self.riders: dict[str, tuple[str, ...]] = {}
        """Identity to the names of what follows its character."""
        self.examined_at = -1e9
        self.recording = False
        """A scene is being stepped for a recording: its events are none of ours."""
        self.in_handler = False
        """Blender waits for us: its scene must not be stepped now."""
        self.in_history = False
        """Blender puts back the data of another moment: nothing is read or written now."""
        self.wants_drawing = False
        """What the carriers show changed, though the frame did not."""
        self.render_waits = self.render_met = False
        """A render waits, in its own thread, for what the heartbeat does; that has met it."""
        self.refusal: Any = None
        self.render_problems: list[str] = []
        """Why the last render did not show what it should."""
        self.rescan = True
        """Objects came, went or were duplicated since the last look."""
        self.last_scene = self.rendered = ""
        """Of the last frame that a script waited for, and of the render under way."""
        self.looked_at = 0.0
        self.shown: tuple[tuple[str, str], ...] = ()
        """What the panel says."""

    def open_entry(self, uuid: str, object_name: str, scene_name: str) -> Entry:
        return self.entries.setdefault(uuid, Entry(uuid, object_name, scene_name))

    def dispatch(self, entry: Entry, event: Event, message: str = "") -> tuple[Effect, ...]:
        """Moves the entry on; the caller carries the effects out."""
        if event is Event.RIG_CHANGED:
            entry.stale_since = self.now()
        entry.state, effects = transition(entry.state, event, message)
        return effects

    def record_again(self, entry: Entry) -> tuple[Effect, ...]:
        entry.state, effects = record_again(entry.state)
        return effects

    def start_preparing(self, entry: Entry, character: Character, build: BuildInputs) -> None:
        check_character(character)
        entry.wants_anew = False
        entry.spaces, entry.proportions = character.space_to_skin, character.proportions
        self._note_shape(entry, character, build)
        entry.character = self.api.create_character(character.to_native())
        entry.job = self.api.character_status(entry.character)

    def open_prepared(self, entry: Entry, shape: Shape, build: BuildInputs, data: bytes) -> None:
        """As if it had been prepared; raises, and changes nothing, when the bytes are none."""
        character = self.api.open_character(data)
        self._note_shape(entry, shape, build)
        entry.character = character
        entry.job = self.api.character_status(character)

    def _note_shape(self, entry: Entry, shape: Shape, build: BuildInputs) -> None:
        entry.build, entry.build_changed_at = build, None
        entry.fingerprint = shape.fingerprint()
        entry.maps_fingerprint = shape.maps_fingerprint()
        entry.key = build.key(shape)
        entry.is_kept = False
        entry.plan = shape.tape_plan
        entry.rest = shape.positions
        entry.buffer = np.zeros(3 * shape.vertex_count, np.float32)

    def set_maps(self, entry: Entry, shape: Shape) -> bool:
        """Whether these maps are others than it had."""
        if shape.maps_fingerprint() == entry.maps_fingerprint:
            return False
        entry.asked = None
        self.api.set_maps(entry.character, shape.maps, shape.vertex_count)
        entry.maps_fingerprint = shape.maps_fingerprint()
        entry.key = entry.build.key(shape)
        entry.is_kept = False
        return True

    def poll_preparing(self, entry: Entry) -> tuple[Event, str] | None:
        """What preparing has come to; None while it runs."""
        entry.job = self.api.character_status(entry.character)
        if entry.job.running:
            return None
        if entry.job.failed:
            return Event.FAILED, entry.job.message
        entry.report = self.api.character_report(entry.character)
        return Event.PREPARED, ""

    def open_shot(self, entry: Entry, frames: FrameRange, settings: ShotSettings) -> None:
        check_frames(frames)
        self.close_shot(entry)
        entry.frames, entry.settings = frames, settings
        to_object = entry.proportions.to_object()
        entry.shot = self.api.create_shot(entry.character, frames, settings, to_object)
        entry.shot_status = self.api.shot_status(entry.shot)

    def follow_skin(self, entry: Entry, rest: FloatArray) -> None:
        """Something else than bones moves it: `skins` come with the rows of the tape."""
        self.api.follow_skin(entry.shot, entry.proportions.of_points(rest))

    def follow(self, entry: Entry, shapes: Iterable[FollowerShape]) -> None:
        """What rides on the cage from now on; recording begins with its first frame."""
        with entry.lock:
            entry.followers = follow(self.api, entry.shot, entry.followers, tuple(shapes))
            rewind(entry.followers)

    def rewind_followers(self, entry: Entry) -> None:
        rewind(entry.followers)

    def write_followers(self, entry: Entry, rows: Iterable[FloatArray]) -> None:
        """For each follower, the frames that `write_rows` will write next."""
        first = entry.frames.shot_first + entry.recorded_until
        write_rows(self.api, entry.followers, first, tuple(rows))

    def write_rows(
        self,
        entry: Entry,
        rows: FloatArray,
        dials: FloatArray | None = None,
        skins: FloatArray | None = None,
    ) -> int:
        """The next rows of the tape; how many frames are still missing."""
        if skins is not None:
            self._write_skins(entry, skins)
        self._write(entry, rows, dials)
        return entry.frames.shot_count - entry.recorded_until

    def write_rows_changed(
        self,
        entry: Entry,
        rows: FloatArray,
        dials: FloatArray | None = None,
        skins: FloatArray | None = None,
    ) -> bool:
        """Writes rows over recorded ones; whether any differed."""
        end = entry.frames.shot_first + entry.recorded_until + len(rows)
        moved = skins is not None and self._write_skins(entry, skins)
        return self._write(entry, rows, dials) < end or moved

    def _write_skins(self, entry: Entry, skins: FloatArray) -> bool:
        """Before the rows: the worker begins with those. Whether any differed."""
        if entry.skins is None or entry.recorded_until == 0:
            entry.skins = hashlib.blake2b(digest_size=16)
        entry.skins.update(skins.tobytes())
        first = entry.frames.shot_first + entry.recorded_until
        placed = entry.proportions.of_points(skins)
        differs = self.api.write_skin(entry.shot, first, placed) < first + len(skins)
        if differs:
            entry.asked = None
        return differs

    def _write(self, entry: Entry, rows: FloatArray, dials: FloatArray | None) -> int:
        """Dials go first: the worker begins with the rows of the rig."""
        assert entry.frames is not None and entry.plan is not None
        first = entry.frames.shot_first + entry.recorded_until
        check_rows(entry.plan, first, rows, entry.frames.to_scene)
        placed = entry.proportions.of_rows(rows)
        if dials is not None:
            self._write_dials(entry, placed, dials)
        changed = self.api.write_tape(entry.shot, first, placed)
        if changed < first + len(rows):
            entry.asked = None
        entry.keep_rows(rows)
        return changed

    def _write_dials(self, entry: Entry, rows: FloatArray, dials: FloatArray) -> None:
        first = entry.frames.shot_first + entry.recorded_until
        check_dials(dials, first, entry.frames.to_scene)
        before = entry.cut_before if entry.recorded_until else 1.0
        marked = entry.surroundings.cuts if entry.surroundings else ()
        controls = controls_from_dials(dials, first, before, marked)
        start = entry.frames.first - first
        if 0 <= start < len(rows):
            entry.rest_gravity = rest_gravity(controls[start], rows[start, :16])
        self.api.write_controls(entry.shot, first, controls)
        if entry.controls is None or len(entry.controls) != entry.frames.shot_count:
            entry.controls = np.zeros((entry.frames.shot_count, controls.shape[1]), np.float32)
        entry.controls[entry.recorded_until : entry.recorded_until + len(rows)] = controls
        entry.cut_before = float(dials[-1, CUT])

    def name_motion(self, entry: Entry) -> None:
        """The tape is whole."""
        entry.changes_proportions = entry.proportions.change_in(entry.rows)
        digest = hashlib.blake2b(entry.rows.tobytes(), digest_size=16)
        digest.update(entry.controls.tobytes() if entry.controls is not None else b"")
        digest.update(entry.skins.digest() if entry.skins is not None else b"")
        digest.update(name_motion(entry.followers))
        entry.motion = digest.hexdigest()

    def bake_source(self, entry: Entry) -> str:
        """Names all that a bake is made of; empty while that may be about to change."""
        changing = entry.state.stale or entry.touched_at is not None
        if entry.state.phase is not Phase.LIVE or changing or not entry.motion:
            return ""
        source = repr((entry.settings, entry.frames, entry.key, entry.motion))
        if not entry.proportions.are_even:
            source += repr(entry.proportions.matrix.tolist())
        return hashlib.blake2b(source.encode(), digest_size=16).hexdigest()

    def dial_turns(self, uuid: str, at_once: bool = True) -> None:
        """The artist turned one of those that the whole shot has one value of."""
        if self.on_turn is not None:
            self.on_turn(uuid, at_once)

    def dials_changed(self, uuid: str) -> None:
        """The artist turned what may be keyed: it is recorded with the rig."""
        entry = self.entries.get(uuid)
        if entry is not None:
            self.dispatch(entry, Event.RIG_CHANGED)

    def set_params(self, entry: Entry, settings: ShotSettings) -> None:
        entry.settings, entry.asked = settings, None
        self.api.set_params(entry.shot, settings)
        entry.shot_status = self.api.shot_status(entry.shot)

    def refresh(self, entry: Entry) -> ShotStatus:
        entry.shot_status = self.api.shot_status(entry.shot)
        return entry.shot_status

    def read_offsets(self, entry: Entry, frame: float, wait_seconds: float = 0.0) -> bool:
        """Fills the entry's buffer; zeros and False when the frame is not ready in time."""
        if entry.shot is None:
            entry.buffer.fill(0.0)
            return False
        if self.api.read_offsets(entry.shot, frame, entry.buffer):
            return True
        if wait_seconds <= 0.0:
            return False
        self.api.wait_frame(entry.shot, int(np.ceil(frame)), wait_seconds)
        return self.api.read_offsets(entry.shot, frame, entry.buffer)

    def ask_provisional(self, entry: Entry, frame: int) -> None:
        """About what a frame will be that is not ready yet, before those up to it are."""
        entry.asked, entry.asked_at, entry.answered = frame, self.now(), False
        self.api.ask_provisional(entry.shot, frame)

    def await_answer(self, entry: Entry, seconds: float) -> Event | None:
        """Of the worker, to what was asked: the provisional frame or the right one, if in time."""
        end = self.now() + seconds
        while self.refresh(entry).provisional_frame != entry.asked:
            if entry.is_ready(entry.asked):
                return Event.FRAME_READY
            if self.now() >= end:
                return None
            time.sleep(PEEP_SECONDS)
        return Event.PROVISIONAL_READY

    def read_provisional(self, entry: Entry) -> bool:
        """Fills the entry's buffer; zeros and False when the shot changed meanwhile."""
        entry.answered = True
        return self.api.read_provisional(entry.shot, entry.asked, entry.buffer)

    def start_bake(
        self,
        entry: Entry,
        path: str,
        frames: FrameRange | None = None,
        kept_path: str = "",
        follower: Any = None,
    ) -> None:
        """All frames of the shot, or some of them; of the skin, or of a follower by its id."""
        self.end_bake(entry)
        wanted = frames or entry.frames
        entry.bake = self.api.start_bake(entry.shot, path, wanted, kept_path, follower)
        entry.bake_progress = 0.0

    def poll_bake(self, entry: Entry) -> JobStatus:
        status = self.api.bake_status(entry.bake)
        entry.bake_progress = status.progress
        return status

    def end_bake(self, entry: Entry) -> None:
        """Cancels it if it runs; the file that was there before stays, and what is kept too."""
        bake, entry.bake, entry.bake_progress = entry.bake, None, None
        self._destroy(self.api.destroy_bake, bake)

    def close_shot(self, entry: Entry) -> None:
        self.end_bake(entry)
        with entry.lock:
            shot, entry.shot, entry.shot_status = entry.shot, None, None
            entry.recorded_until, entry.asked, entry.provisional = 0, None, None
            leave(self.api, entry.followers)
            entry.followers, entry.followed = [], None
            self._destroy(self.api.destroy_shot, shot)

    def release(self, entry: Entry) -> None:
        """Frees what the library holds for the entry; the entry stays."""
        if self.api is None:
            return
        self.close_shot(entry)
        character, entry.character = entry.character, None
        entry.frames = entry.rows = entry.controls = entry.surroundings = None
        entry.skins = entry.movers = None
        entry.suspected, entry.job, entry.report = False, None, {}
        self._destroy(self.api.destroy_character, character)

    def _destroy(self, destroy: Callable[[Any], None], identity: Any) -> None:
        if identity is None:
            return
        try:
            destroy(identity)
        except NativeError as error:
            log.warning("while freeing: %s", error)

    def forget(self, uuid: str) -> None:
        entry = self.entries.pop(uuid, None)
        if entry is not None:
            self.release(entry)

    def forget_missing(self, present: Iterable[str]) -> None:
        """Frees all characters but these and the one that is being added."""
        kept = set(present) | set(self.adding.values())
        for uuid in [uuid for uuid in self.entries if uuid not in kept]:
            self.forget(uuid)

    def close(self) -> int:
        """Frees everything; how many bytes the library still holds, which ought to be none."""
        for uuid in list(self.entries):
            self.forget(uuid)
        if self.api is None:
            return 0
        self.api.shutdown()
        return self.api.byte_count()


_open: list[Session] = []


def open_session(session: Session) -> None:
    """Makes it the one that the doors find."""
    _open[:] = [session]


def current() -> Session | None:
    return _open[0] if _open else None


def close_session() -> None:
    """Frees everything and says so in the log when the library still holds bytes."""
    while _open:
        left = _open.pop().close()
        if left:
            log.error("the library still holds %d bytes", left)
