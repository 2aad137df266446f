# SPDX-License-Identifier: GPL-3.0-or-later
"""What the session remembers of one character. Nothing of Blender's.

Its lock is held while its buffer is filled and copied, because renders show frames from another
thread.
"""

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..native.arrays import FloatArray
from ..native.inputs import FrameRange, InsideInput, JobStatus, ShotSettings, ShotStatus
from .controls import Surroundings
from .followers import Follower
from .lifecycle import Phase, State
from .maps import MapChoice, MapChoices
from .proportions import EVEN, Proportions
from .rig import Shape, TapePlan


@dataclass(frozen=True)
class BuildInputs:
    """What preparing depends on besides the mesh's shape; when it differs we prepare again."""

    vertex_count: int
    node_count: int
    loose_parts: str
    armatures: tuple[tuple[str, bool], ...] = ()
    """The armature modifiers and whether each is switched on."""
    deformers: tuple[str, ...] = ()
    """What moves the skin besides bones: then its points are recorded too."""
    detail: MapChoice = MapChoice()
    """The one painted map that the cage depends on."""
    mesher: int = 0
    """Who makes the cage; a number of the library's."""
    inside: InsideInput = InsideInput()
    """How the inside of the skin is understood."""
    stack: str = ""
    """Which modifiers make vertices before ours."""

    def key(self, shape: Shape) -> str:
        """Names what comes of preparing a shape so."""
        return shape.key(self.node_count, self.mesher, self.inside)


@dataclass
class Entry:
    """One character. Ids are opaque; None is "there is none"."""

    uuid: str
    object_name: str
    scene_name: str
    state: State = field(default_factory=State)
    build: BuildInputs | None = None
    plan: TapePlan | None = None
    character: Any = None
    shot: Any = None
    bake: Any = None
    frames: FrameRange | None = None
    settings: ShotSettings | None = None
    refused: ShotSettings | None = None
    """Those that the library would not take; None while it has what was asked."""
    recorded_until: int = 0
    """How many frames of the shot, its pre-roll included."""
    stance: str = ""
    """What the object stood on when the rig was recorded."""
    places: dict[tuple[str, str], Any] = field(default_factory=dict)
    """What stood where when a dial was turned, by type and name, until Blender tells of it."""
    surroundings: Surroundings | None = None
    """Of the scene, as recorded."""
    animation: tuple[Any, ...] = ()
    """What played on it and on what carries it then."""
    cut_before: float = 1.0
    """How Cut stands at the last recorded frame."""
    rest_gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """What the modelled shape yields to: the gravity at the first frame, in skin space."""
    motion: str = ""
    """Names what was recorded, for the bake that is made of it."""
    stale_since: float = 0.0
    build_changed_at: float | None = None
    rest: FloatArray = field(default_factory=lambda: np.zeros(0, np.float32))
    """The skin that was prepared."""
    fingerprint: str = ""
    """Of the shape that was prepared."""
    maps: MapChoices = MapChoices()
    maps_fingerprint: str = ""
    """The painted maps that it has now."""
    key: str = ""
    """Names what was prepared, for what is stored."""
    is_kept: bool = False
    """What was prepared is stored with the carrier."""
    wants_anew: bool = False
    """The artist asked for preparing: what is stored will not do."""
    spaces: FloatArray | None = None
    """Where its armatures were in relation to the skin; None where an old file does not tell."""
    proportions: Proportions = EVEN
    """What the object made of the skin's shape when it was prepared."""
    is_misplaced: bool = False
    """It was prepared anew because these were others; once is enough."""
    changes_proportions: bool = False
    """The object does in the course of the shot."""
    touched_at: float | None = None
    """When Blender told of a change of what preparing reads; None once that was looked at."""
    groups: tuple[str, ...] = ()
    """The vertex groups at that look: Blender does not tell of all changes of them."""
    is_changed: bool = False
    """It is prepared because of such a change."""
    lost_bone: bool = False
    """It is prepared because one was renamed or deleted; nothing was recorded since then."""
    mode: str = "OBJECT"
    """The object's mode at the last look: what was painted or edited is read after leaving it."""
    steps_scene: bool = False
    """The rig reads the artist's scene: recording has to step that."""
    suspected: bool = False
    """A frame showed another pose than the tape has: nothing else told that the scene is read."""
    rows: FloatArray | None = None
    """The tape, to compare what the scene shows."""
    controls: FloatArray | None = None
    """What the dials came to beside it."""
    skins: Any = None
    """A digest of the points that were recorded, where something else than bones moves them."""
    movers: FloatArray | None = None
    """Where what deforms the skin stood in each of those rows."""
    followers: list[Follower] = field(default_factory=list)
    """What rides on its cage, in this shot."""
    followed: Any = None
    """What the followers were when they were read; another answer means reading them again."""
    doubtful: bool = False
    """The scene showed something else than was recorded: perhaps it has to be stepped."""
    compared_at: float = -1e9
    may_step: bool = False
    """The artist asked for it; recording never moves the scene's frame of its own accord."""
    blocked: str = ""
    """Why nothing is shown although all is ready."""
    elsewhere: str = ""
    """Why it stands still in the scene that was shown last."""
    notice: str = ""
    """What the artist ought to know about the recording."""
    asked: int | None = None
    """The frame that a provisional one is asked of; None after each change."""
    asked_at: float = 0.0
    is_begun: bool = False
    """A turned dial was handed in before Blender evaluated it."""
    answered: bool = False
    """It came, and is shown."""
    provisional: int | None = None
    """The frame that the carrier shows provisionally."""
    buffer: FloatArray = field(default_factory=lambda: np.zeros(0, np.float32))
    job: JobStatus | None = None
    shot_status: ShotStatus | None = None
    report: dict[str, Any] = field(default_factory=dict)
    bake_progress: float | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def progress(self) -> float:
        """Of what the entry is busy with, 0 to 1."""
        if self.state.phase is Phase.PREPARING:
            return self.job.progress if self.job else 0.0
        if self.state.phase is Phase.RECORDING and self.frames:
            return self.recorded_until / self.frames.shot_count
        if self.state.phase is Phase.LIVE and self.shot_status:
            return self.shot_status.ready / self.shot_status.frame_count
        return 0.0

    @property
    def skin_points(self) -> int:
        """How many are recorded beside the rig; none where bones tell all."""
        return len(self.rest) // 3 if self.build is not None and self.build.deformers else 0

    @property
    def is_awaited(self) -> bool:
        """A provisional frame was asked for that is not shown yet."""
        return self.asked is not None and not self.answered and self.state.owed

    def keep_rows(self, rows: FloatArray) -> None:
        """The next of the tape."""
        shape = (self.frames.shot_count, rows.shape[1])
        if self.rows is None or self.rows.shape != shape:
            self.rows = np.zeros(shape, np.float32)
        self.rows[self.recorded_until : self.recorded_until + len(rows)] = rows
        self.recorded_until += len(rows)

    def scene_frames(self, recorded: int = 0) -> list[int]:
        """The frame of the scene for each frame of the shot that is not recorded."""
        frames = self.frames
        first = frames.shot_first + recorded
        return [frames.to_scene(frame) for frame in range(first, frames.last + 1)]

    def is_ready(self, frame: float) -> bool:
        """By the last status; frames outside of the range count as their nearest."""
        if self.frames is None or self.shot_status is None:
            return False
        wanted = min(max(frame, self.frames.first), self.frames.last)
        return self.shot_status.ready > int(np.ceil(wanted)) - self.frames.shot_first
