# SPDX-License-Identifier: GPL-3.0-or-later
"""From what Blender's armatures hold to the bones and weights that the library wants. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..native.arrays import FloatArray, IntArray, as_floats, as_ints
from ..native.inputs import CharacterInput, InsideInput, MapsInput
from . import maps as painted_maps
from .maps import Groups
from .proportions import EVEN, Proportions, proportions_of

LOOSE_TIP = 0.6
"""The share of a loose chain that swings freely: less looks stiff, more lets the root go."""

SPACE_ROUNDING = 1e-5
"""Of the largest number: a rig that walks through the scene is worked out anew at each place."""


class RefusalError(Exception):
    """We will not do that; the text says why and what helps."""


class NotNowError(RefusalError):
    """We will do it by ourselves once the artist has ended what the text names."""


class LostBoneError(RefusalError):
    """A bone that was prepared was renamed or deleted."""


@dataclass(frozen=True)
class SourceBone:
    """A bone as an armature has it."""

    name: str
    parent: str | None
    deforms: bool
    length: float
    rest: tuple[float, ...]


@dataclass(frozen=True)
class Bone:
    """A deforming bone; `parent` is an index into the same list, or -1."""

    name: str
    space: int
    parent: int
    length: float
    loose_tip: float
    rest: tuple[float, ...]


@dataclass(frozen=True)
class Weights:
    """Sparse rows: vertex v owns entries starts[v] .. starts[v + 1] - 1."""

    starts: IntArray
    bones: IntArray
    values: FloatArray


def split_words(text: str) -> tuple[str, ...]:
    """ "ear, Tail" -> ("ear", "tail")."""
    return tuple(word.strip().lower() for word in text.split(",") if word.strip())


def is_loose(bone_name: str, words: Sequence[str]) -> bool:
    """A word counts where a part of the name starts with it: "ear.L", "DEF-ears", not "forearm"."""
    text = "".join(
        f" {c}" if c.isupper() and i and bone_name[i - 1].islower() else c
        for i, c in enumerate(bone_name)
    )
    parts = "".join(c if c.isalnum() else " " for c in text.lower()).split()
    return any(part.startswith(word) for part in parts for word in words)


def order_bones(
    armatures: Sequence[Sequence[SourceBone]], loose_words: Sequence[str]
) -> tuple[Bone, ...]:
    """The deforming bones of all armatures, each after its nearest deforming ancestor."""
    ordered: list[Bone] = []
    for space, sources in enumerate(armatures):
        by_name = {source.name: source for source in sources}
        index: dict[str, int] = {}
        for source in sorted(sources, key=lambda bone: _depth(bone, by_name)):
            if not source.deforms:
                continue
            parent = _deforming_ancestor(source, by_name)
            loose = LOOSE_TIP if is_loose(source.name, loose_words) else 0.0
            index[source.name] = len(ordered)
            ordered.append(
                Bone(
                    source.name,
                    space,
                    index[parent] if parent else -1,
                    source.length,
                    loose,
                    source.rest,
                )
            )
    return tuple(ordered)


def _depth(bone: SourceBone, by_name: Mapping[str, SourceBone]) -> int:
    depth = 0
    while bone.parent is not None:
        bone = by_name[bone.parent]
        depth += 1
    return depth


def _deforming_ancestor(bone: SourceBone, by_name: Mapping[str, SourceBone]) -> str | None:
    name = bone.parent
    while name is not None and not by_name[name].deforms:
        name = by_name[name].parent
    return name


def weights_from_groups(vertex_count: int, groups: Groups, bones: Sequence[Bone]) -> Weights:
    """From (vertex, group, weight) entries to rows over bones; groups without a bone fall away."""
    bones_of_name: dict[str, list[int]] = {}
    for index, bone in enumerate(bones):
        bones_of_name.setdefault(bone.name, []).append(index)
    parts: list[tuple[IntArray, IntArray, FloatArray]] = []
    for group, name in enumerate(groups.names):
        chosen = np.flatnonzero((groups.groups == group) & (groups.values > 0.0))
        for bone_index in bones_of_name.get(name, ()):
            bone_column = np.full(len(chosen), bone_index, np.int32)
            parts.append((groups.vertices[chosen], bone_column, groups.values[chosen]))
    if not parts:
        nothing = np.zeros(0, np.int32)
        return Weights(np.zeros(vertex_count + 1, np.int32), nothing, as_floats(nothing))
    rows, columns, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((columns, rows))
    counts = np.bincount(rows, minlength=vertex_count)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return Weights(as_ints(starts), as_ints(columns[order]), as_floats(weights[order]))


@dataclass(frozen=True)
class TapePlan:
    """What a row of the tape holds: the object, the armatures, then these bones."""

    bones: tuple[Bone, ...]
    armature_count: int

    @property
    def floats_per_row(self) -> int:
        return 16 * (1 + self.armature_count + len(self.bones))


@dataclass(frozen=True)
class Shape:
    """What preparing depends on, as far as the artist may change it in a mode."""

    positions: FloatArray
    triangles: IntArray
    weights: Weights
    bones: tuple[Bone, ...]
    maps: MapsInput
    armature_count: int

    @property
    def vertex_count(self) -> int:
        return len(self.positions) // 3

    @property
    def tape_plan(self) -> TapePlan:
        return TapePlan(self.bones, self.armature_count)

    def maps_fingerprint(self) -> str:
        """Of what may change without a new cage."""
        kinds = tuple(kind for kind in painted_maps.KINDS if kind != "detail")
        return painted_maps.fingerprint(self.maps, kinds)

    def key(self, node_count: int, mesher: int, inside: InsideInput) -> str:
        """Names what comes of preparing this. Defaults say nothing: older files have no more."""
        wishes = "" if inside == InsideInput() else f" {inside}"
        return f"{self.fingerprint()} {self.maps_fingerprint()} {node_count} {mesher}{wishes}"

    def fingerprint(self) -> str:
        """Another one as soon as one bit differs: a point, a face, a weight, a bone at rest."""
        digest = hashlib.blake2b(repr(self.bones).encode(), digest_size=16)
        weights = self.weights
        for array in (self.positions, self.triangles, weights.starts, weights.bones):
            digest.update(array.tobytes())
        digest.update(weights.values.tobytes())
        digest.update(painted_maps.fingerprint(self.maps, ("detail",)).encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class Spaces:
    """Where the armatures are in relation to the skin, and what the object makes of its shape."""

    to_skin: FloatArray
    """Armature space to the space of the object, 16 floats each, column by column."""
    proportions: Proportions = EVEN
    reach: float = 1.0
    """The largest number in what they were worked out from: what rounding is measured by."""

    def are(self, others: FloatArray) -> bool:
        """But for rounding."""
        if len(others) != len(self.to_skin):
            return False
        largest = np.abs(self.to_skin - others).max(initial=0.0)
        return bool(largest <= SPACE_ROUNDING * self.reach)


def spaces_of_row(row: FloatArray, armature_count: int) -> Spaces:
    """From the beginning of a row of the tape: the object, then the armatures."""
    worlds = row[: 16 * (1 + armature_count)].reshape(-1, 4, 4).transpose(0, 2, 1)
    worlds = worlds.astype(np.float64)
    try:
        to_skin = np.linalg.inv(worlds[0])
    except np.linalg.LinAlgError as error:
        raise RefusalError("This object has a scale of zero.") from error
    spaces = (to_skin @ worlds[1:]).transpose(0, 2, 1).astype(np.float32).reshape(-1)
    reach = max(1.0, float(np.abs(worlds).max())) * max(1.0, float(np.abs(to_skin[:3, :3]).max()))
    return Spaces(spaces, proportions_of(worlds[0]), reach)


@dataclass(frozen=True)
class Character(Shape):
    """All that preparing needs."""

    space_to_skin: FloatArray
    target_node_count: int
    mesher: int = 0
    inside: InsideInput = InsideInput()
    proportions: Proportions = EVEN
    """Of the object; the other numbers are in its own space."""

    def as_flesh(self) -> "Character":
        """In the space that is simulated in."""
        return replace(
            self,
            positions=self.proportions.of_points(self.positions),
            space_to_skin=self.proportions.of_spaces(self.space_to_skin),
            proportions=EVEN,
        )

    def to_native(self) -> CharacterInput:
        bones, flesh = self.bones, self.as_flesh()
        return CharacterInput(
            skin_positions=as_floats(flesh.positions),
            skin_triangles=as_ints(self.triangles),
            weight_starts=self.weights.starts,
            weight_bones=self.weights.bones,
            weight_values=self.weights.values,
            bone_rests=as_floats([bone.rest for bone in bones]).reshape(-1),
            bone_lengths=as_floats([bone.length for bone in bones]),
            bone_parents=as_ints([bone.parent for bone in bones]),
            bone_loose_tips=as_floats([bone.loose_tip for bone in bones]),
            bone_spaces=as_ints([bone.space for bone in bones]),
            space_to_skin=as_floats(flesh.space_to_skin).reshape(-1),
            target_node_count=self.target_node_count,
            mesher=self.mesher,
            inside=self.inside,
            maps=self.maps,
        )
