# SPDX-License-Identifier: GPL-3.0-or-later
"""What rides on a character's cage: clothes, eyes, teeth. Ids and buffers, nothing of Blender's.

A follower lives as long as the shot that it stands on, and is made anew with it.
"""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..native.arrays import FloatArray, as_floats
from ..native.errors import NativeError

log = logging.getLogger(__name__)

ROW_FLOATS = 32
"""Object to world, then rest positions to world; 4 x 4 each, column by column."""


@dataclass(frozen=True)
class FollowerShape:
    """What the artist picked, as it lies on the character with the rig at rest."""

    uuid: str
    object_name: str
    rest: FloatArray
    """3 a point, in the space of the skin."""
    skin_to_object: FloatArray
    """4 x 4, row by row: from there to the follower's own space, at rest."""
    is_rigid: bool = False
    is_deformed: bool = False
    """By more than its object's transform."""

    @property
    def point_count(self) -> int:
        return len(self.rest) // 3

    def key(self) -> str:
        digest = hashlib.blake2b(self.rest.tobytes(), digest_size=16)
        digest.update(bytes([self.is_rigid]))
        return digest.hexdigest()


@dataclass
class Follower:
    """One of them at work."""

    shape: FollowerShape
    key: str
    identity: Any
    object_name: str
    buffer: FloatArray
    recorded: int = 0
    """How many frames of the shot are written."""
    motion: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))
    """A digest of them."""


def follow(
    api: Any, shot: Any, had: Sequence[Follower], shapes: Sequence[FollowerShape]
) -> list[Follower]:
    """The followers of a shot are these from now on; those that stay as they were are kept."""
    known = {(follower.shape.uuid, follower.key): follower for follower in had}
    made: list[Follower] = []
    fresh: list[Follower] = []
    try:
        for shape in shapes:
            before = known.pop((shape.uuid, shape.key()), None)
            if before is None:
                before = _create(api, shot, shape)
                fresh.append(before)
            before.shape, before.object_name = shape, shape.object_name
            made.append(before)
    except NativeError:
        leave(api, fresh)
        raise
    leave(api, list(known.values()))
    return made


def _create(api: Any, shot: Any, shape: FollowerShape) -> Follower:
    identity = api.create_follower(shot, shape.rest, shape.is_rigid)
    buffer = np.zeros(len(shape.rest), np.float32)
    return Follower(shape, shape.key(), identity, shape.object_name, buffer)


def leave(api: Any, followers: Sequence[Follower]) -> None:
    for follower in followers:
        try:
            api.destroy_follower(follower.identity)
        except NativeError as error:
            log.warning("while freeing: %s", error)


def rewind(followers: Sequence[Follower]) -> None:
    """They are recorded from the first frame on again; what is there stays until then."""
    for follower in followers:
        follower.recorded = 0
        follower.motion = hashlib.blake2b(digest_size=16)


def write_rows(
    api: Any, followers: Sequence[Follower], first: int, rows: Sequence[FloatArray]
) -> None:
    """Frames from `first` on, for each follower."""
    for follower, own in zip(followers, rows, strict=True):
        api.write_follower(follower.identity, first, own)
        follower.recorded += len(own)
        follower.motion.update(own.tobytes())


def name_motion(followers: Sequence[Follower]) -> bytes:
    """Empty where there are none."""
    return b"".join(f.key.encode() + f.motion.digest() for f in followers)


def fit_map(points: FloatArray) -> FloatArray:
    """For `affine_map`: from where points come to how they are fitted, 4 x points."""
    homogeneous = np.c_[points.reshape(-1, 3).astype(np.float64), np.ones(len(points) // 3)]
    return np.linalg.pinv(homogeneous)


def affine_map(fit: FloatArray, goals: FloatArray) -> FloatArray:
    """The 4 x 4 map that brings those points nearest to these goals."""
    found = np.eye(4)
    found[:3] = (fit @ goals.reshape(-1, 3).astype(np.float64)).T
    return found


def make_row(world: FloatArray, rest_to_object: FloatArray) -> FloatArray:
    """A row of the tape from 4 x 4 matrices, row by row."""
    both = (world, world @ rest_to_object)
    return as_floats(np.concatenate([matrix.T.reshape(-1) for matrix in both]))
