# SPDX-License-Identifier: GPL-3.0-or-later
"""One bake from beginning to end, in turns: live first, then the library writes, then it is put on.

Whoever wants a bake makes a run and takes turns: operators with a window or without, a farm.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy

from ..model import point_cache
from ..model.baking import (
    KEPT,
    MAIN,
    Pace,
    chunk_name,
    describe_bake,
    first_in_name,
    is_part,
    with_margin,
)
from ..model.lifecycle import Event, Phase
from ..model.point_cache import PointCacheError
from ..model.rig import RefusalError
from ..model.session import Entry, Session
from ..native.inputs import FrameRange
from . import bake_keys, carrier, examine, followers, objects, stage, takes, tape
from .bake_dials import frames_to_bake

GONE = "The scene changed while baking. Bake again."
SAVE_ELSEWHERE = "Save the .blend where you may write, then bake again."
ELSEWHERE = "Choose an output folder where you may write."


@dataclass(frozen=True)
class BakeWish:
    """What is to be baked, and where to."""

    take: str = MAIN
    frames: str = ""
    """A range such as 1-100; empty is what the character's settings say."""
    subframes: int = -1
    """Between two frames; -1 is what the character's settings say."""
    folder: str = ""
    """Another one than beside the file."""
    put_on: bool = True
    """Let the character play it."""


def make_folder(folder: Path, remedy: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise RefusalError(
            f"A file lies where the folder for bakes belongs: {folder}. Move or rename that file."
        ) from error
    except OSError as error:
        raise RefusalError(
            f"The folder for bakes cannot be made: {folder}: {error.strerror}. {remedy}"
        ) from error


def path_for(ob: Any, wish: BakeWish) -> str:
    path = takes.default_path(ob, wish.take)
    if not wish.folder:
        return path
    path = str(Path(bpy.path.abspath(wish.folder)).absolute() / bpy.path.basename(path))
    travels = wish.folder.startswith("//") or not Path(wish.folder).is_absolute()
    if travels and bpy.data.filepath:
        with suppress(ValueError):  # another drive has no relative path
            path = bpy.path.relpath(path)
    return path


def kept_file(path: str) -> Path:
    """Where the simulated frames are kept until all of the shot's are baked."""
    return Path(bpy.path.abspath(path) + KEPT)


class BakeRun:
    """`turn` until it answers True. Raises NativeError or RefusalError; nothing has changed."""

    def __init__(self, session: Session, ob: Any, scene: Any, wish: BakeWish) -> None:
        self.session, self.wish = session, wish
        self.uuid, self.name, self.path = ob.softrig.uuid, ob.name, path_for(ob, wish)
        self.kept, self.started = kept_file(self.path), False
        self.frames: FrameRange | None = None
        """The wished ones,"""
        self.rows: FrameRange | None = None
        """and those in the file."""
        self.goes_on = False
        """An earlier bake left frames."""
        self.pace = Pace(session.now())
        self.progress = 0.0
        self.waiting: list[tuple[str, str]] = []
        """Followers that are not baked yet, and where to."""
        self.written: list[tuple[str, str]] = []
        entry = session.open_entry(self.uuid, ob.name, scene.name)
        if entry.state.phase is Phase.ABSENT or entry.state.is_refused:
            stage.happen(session, entry, ob, scene, Event.WANTED)
        else:
            session.dispatch(entry, Event.RIG_CHANGED)
            stage.notice_edits(session, entry, ob, scene)
        stage.follow(session, entry, scene)

    def entry(self) -> Entry | None:
        return self.session.entries.get(self.uuid)

    def turn(self) -> bool:
        entry = self.entry()
        ob = objects.find_object(entry) if entry is not None else None
        scene = objects.scene_of(ob, entry.scene_name) if ob is not None else None
        if scene is None:
            raise RefusalError(GONE)
        problem = carrier.find_obstacle(ob) or examine.find_lost_paint(ob)
        if not self.started:
            problem = problem or tape.find_unposed(ob)
        if problem:
            raise RefusalError(problem)
        if not self.started:
            self._begin(entry, ob, scene)
            return False
        return self._go_on(entry, ob)

    def _begin(self, entry: Entry, ob: Any, scene: Any) -> None:
        entry.may_step = True
        if stage.settle(self.session, entry, ob, scene):
            frames = self.choose(entry, ob, scene)
            rows = with_margin(frames, entry.frames, ob.softrig.loop)
            problem = takes.problem(rows)
            if problem:
                raise RefusalError(problem)
            if is_part(frames, entry.frames):
                self.path = chunk_name(self.path, frames)
            target = Path(bpy.path.abspath(self.path))
            make_folder(target.parent, ELSEWHERE if self.wish.folder else SAVE_ELSEWHERE)
            self.waiting = self._followers(entry, frames)
            self.goes_on = self.kept.is_file()
            self.session.start_bake(entry, str(target), rows, str(self.kept))
            self.frames, self.rows, self.started = frames, rows, True
        elif entry.state.is_refused:
            raise RefusalError(entry.state.message)

    def choose(self, entry: Entry, ob: Any, scene: Any) -> FrameRange:
        """The frames to bake."""
        return frames_to_bake(ob, scene, entry.frames, self.wish.frames, self.wish.subframes)

    def _go_on(self, entry: Entry, ob: Any) -> bool:
        if entry.bake is None:
            raise RefusalError(GONE)
        status = self.session.poll_bake(entry)
        done = len(self.written)
        self.progress = (done + status.progress) / (done + len(self.waiting) + 1)
        if status.running:
            return False
        self.session.refresh(entry)
        self.session.end_bake(entry)
        if status.failed:
            raise RefusalError(status.message)
        if self.waiting:
            self._begin_follower(entry)
            return False
        if self.wish.put_on:
            self._put_on(entry, ob)
        return True

    def _followers(self, entry: Entry, frames: FrameRange) -> list[tuple[str, str]]:
        found = []
        for follower in entry.followers:
            rider = followers.find_object(follower)
            if rider is not None:
                path = path_for(rider, self.wish)
                path = chunk_name(path, frames) if is_part(frames, entry.frames) else path
                found.append((follower.shape.uuid, path))
        return found

    def _begin_follower(self, entry: Entry) -> None:
        """All frames are simulated by now: it is a matter of writing."""
        uuid, path = self.waiting.pop(0)
        follower = next((f for f in entry.followers if f.shape.uuid == uuid), None)
        if follower is None:
            raise RefusalError(GONE)
        self.written.append((uuid, path))
        target = bpy.path.abspath(path)
        self.session.start_bake(entry, target, self.rows, follower=follower.identity)

    def _put_on(self, entry: Entry, ob: Any) -> None:
        if carrier.is_lost(ob):
            raise RefusalError(carrier.LOST)
        stack, made_of = carrier.describe_stack(ob), entry.build
        if (len(ob.data.vertices), stack) != (made_of.vertex_count, made_of.stack):
            raise RefusalError("The mesh changed while baking. Bake again.")
        for player in (ob, *followers.followers_of(ob)):
            bake_keys.remove_keys(player)  # the last bake plays
        modifier = takes.attach(ob, self.wish.take, self.path, self.rows)
        self._put_on_followers(entry, ob)
        takes.sign(modifier, self.session.bake_source(entry))
        self.session.bake_faults.pop(self.uuid, None)

    def _put_on_followers(self, entry: Entry, ob: Any) -> None:
        """One that was edited meanwhile stands still, and the panel tells that it is not baked."""
        paths = dict(self.written)
        counts = {f.shape.uuid: f.shape.point_count for f in entry.followers}
        for rider in followers.followers_of(ob):
            uuid = rider.softrig.follower_uuid
            if uuid in paths and counts.get(uuid) == len(rider.data.vertices):
                takes.attach(rider, self.wish.take, paths[uuid], self.rows)
        followers.clear(ob, but_baked=True)

    def stop(self) -> None:
        """What is simulated is kept: the next bake goes on from there."""
        entry = self.entry()
        if entry is not None:
            self.session.end_bake(entry)

    def kept_text(self) -> str:
        """What Esc leaves, for the artist; empty when there is nothing."""
        if not self.kept.is_file():
            return ""
        return "The frames that are done are kept: Bake goes on from there."

    def progress_text(self) -> str:
        left = self.pace.seconds_left(self.progress, self.session.now()) if self.started else None
        return describe_bake(self.progress, left)


def check_existing(ob: Any, path: str) -> FrameRange:
    """The frames of a bake on disk that fits this mesh; refuses another."""
    file, wanted = Path(bpy.path.abspath(path)), takes.count_points(ob)
    try:
        size = point_cache.read_size(file)
        if size.points != wanted:
            raise RefusalError(
                f"The bake has {size.points} points, this mesh has {wanted} vertices."
            )
        point_cache.check_numbers(file, size)  # reads it whole: last
    except PointCacheError as error:
        raise RefusalError(f"The bake {error}. Bake again.") from error
    scene = objects.scene_of(ob)
    leader = ob.softrig.leader or ob
    frames = objects.shot_frames(leader, scene if scene is not None else bpy.context.scene)
    rows = with_margin(frames, frames, leader.softrig.loop)
    whole = rows if rows.count == size.frames else frames
    first = first_in_name(path, size.frames, whole.first)
    return replace(frames, first=first, count=size.frames, samples=size.samples)
