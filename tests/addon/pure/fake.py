# SPDX-License-Identifier: GPL-3.0-or-later
"""A library that computes nothing: counts calls, hands out ids, is as far as the test says."""

from collections import Counter
from typing import Any

from softrig.native.errors import BadFileError, StaleIdError
from softrig.native.inputs import JobStatus, ShotStatus

RUNNING = JobStatus(True, False, 10, 0.25, "")
DONE = JobStatus(False, False, 0, 1.0, "")


def failed(message: str) -> JobStatus:
    return JobStatus(False, True, 9, 0.5, message)


class FakeApi:
    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.alive: set[int] = set()
        self.job = RUNNING
        self.bake_job = RUNNING
        self.ready = 0
        self.recorded = 0
        self.frame_count = 0
        self.params: Any = None
        self.provisional: int | None = None
        self.skins = 0
        self.maps: Any = None
        self.controls: list[Any] = []

    def _made(self, name: str) -> int:
        self.calls[name] += 1
        identity = sum(self.calls.values())
        self.alive.add(identity)
        return identity

    def _used(self, name: str, identity: int) -> None:
        self.calls[name] += 1
        if identity not in self.alive:
            raise StaleIdError(5, "The id is stale.")

    def _gone(self, name: str, identity: int) -> None:
        self._used(name, identity)
        self.alive.discard(identity)

    def create_character(self, data: Any) -> int:
        return self._made("create_character")

    def open_character(self, data: bytes) -> int:
        if data != b"prepared":
            raise BadFileError(15, "These are no bytes of ours.")
        return self._made("open_character")

    def character_file(self, identity: int) -> bytes:
        self._used("character_file", identity)
        return b"prepared"

    def set_maps(self, identity: int, maps: Any, vertex_count: int) -> None:
        self._used("set_maps", identity)
        self.maps = maps

    def destroy_character(self, identity: int) -> None:
        self._gone("destroy_character", identity)

    def character_status(self, identity: int) -> JobStatus:
        self._used("character_status", identity)
        return self.job

    def character_report(self, identity: int) -> dict[str, float]:
        return {"nodeCount": 8, "borderEdgeCount": 3}

    def create_shot(self, character: int, frames: Any, settings: Any, to_object: Any = None) -> int:
        if character not in self.alive:
            raise StaleIdError(5, "The id is stale.")
        self.frame_count, self.recorded, self.ready, self.params = frames.shot_count, 0, 0, settings
        return self._made("create_shot")

    def destroy_shot(self, identity: int) -> None:
        self._gone("destroy_shot", identity)

    def write_tape(self, shot: int, first_frame: int, rows: Any) -> int:
        self._used("write_tape", shot)
        self.recorded += len(rows)
        return first_frame

    def follow_skin(self, shot: int, rest: Any) -> None:
        self._used("follow_skin", shot)

    def write_skin(self, shot: int, first_frame: int, rows: Any) -> int:
        self._used("write_skin", shot)
        self.skins += len(rows)
        return first_frame

    def write_controls(self, shot: int, first_frame: int, rows: Any) -> int:
        self._used("write_controls", shot)
        self.controls.append((first_frame, rows))
        return first_frame

    def set_params(self, shot: int, settings: Any) -> None:
        self._used("set_params", shot)
        self.params = settings

    def shot_status(self, shot: int) -> ShotStatus:
        self._used("shot_status", shot)
        return ShotStatus(
            self.frame_count,
            self.recorded,
            self.ready,
            True,
            0,
            0.0,
            provisional_frame=self.provisional,
        )

    def wait_frame(self, shot: int, frame: int, seconds: float) -> bool:
        self._used("wait_frame", shot)
        self.ready = self.frame_count
        return True

    def read_offsets(self, shot: int, frame: float, offsets: Any) -> bool:
        self._used("read_offsets", shot)
        offsets.fill(float(self.ready > 0))
        return self.ready > 0

    def ask_provisional(self, shot: int, frame: int) -> None:
        self._used("ask_provisional", shot)
        self.provisional = frame

    def read_provisional(self, shot: int, frame: int, offsets: Any) -> bool:
        self._used("read_provisional", shot)
        offsets.fill(2.0)
        return frame == self.provisional

    def create_follower(self, shot: int, rest: Any, is_rigid: bool) -> int:
        self._used("create_follower", shot)
        return self._made("follower")

    def destroy_follower(self, identity: int) -> None:
        self._gone("destroy_follower", identity)

    def write_follower(self, follower: int, first_frame: int, rows: Any) -> None:
        self._used("write_follower", follower)

    def read_follower(self, follower: int, frame: float, offsets: Any) -> bool:
        self._used("read_follower", follower)
        offsets.fill(float(self.ready > 0))
        return self.ready > 0

    def read_follower_provisional(self, follower: int, frame: int, offsets: Any) -> bool:
        self._used("read_follower_provisional", follower)
        offsets.fill(2.0)
        return frame == self.provisional

    def start_bake(
        self, shot: int, path: str, frames: Any, kept_path: str = "", follower: Any = None
    ) -> int:
        return self._made("bake")

    def bake_status(self, bake: int) -> JobStatus:
        self._used("bake_status", bake)
        return self.bake_job

    def destroy_bake(self, bake: int) -> None:
        self._gone("destroy_bake", bake)

    def shutdown(self) -> int:
        left = len(self.alive)
        self.alive.clear()
        return left

    def byte_count(self) -> int:
        return 100 * len(self.alive)
