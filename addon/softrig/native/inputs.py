# SPDX-License-Identifier: GPL-3.0-or-later
"""What the library is given and what it answers, as plain data. Units in the names."""

from dataclasses import dataclass, field
from typing import Any

from . import bindings
from .arrays import FloatArray, IntArray


@dataclass(frozen=True)
class MapsInput:
    """Arrays as `srCharacterMaps` wants them, one number a vertex; None is not painted."""

    stiffness: FloatArray | None = None
    mass: FloatArray | None = None
    damping: FloatArray | None = None
    hold: FloatArray | None = None
    pin: FloatArray | None = None
    detail: FloatArray | None = None


@dataclass(frozen=True)
class InsideInput:
    """How the inside of the skin is understood; lengths in diagonals of the skin's bounds."""

    largest_hole: float = 0.2
    sheet_thickness: float = 0.01
    fills_hollows: bool = False
    joins_touching: bool = False


def set_inside(definition: Any, inside: InsideInput) -> None:
    """Into the fields that `srCharacterDef` and `srWeightsDef` have by the same names."""
    definition.largestHole = inside.largest_hole
    definition.sheetThickness = inside.sheet_thickness
    definition.fillsHollows = inside.fills_hollows
    definition.joinsTouching = inside.joins_touching


@dataclass(frozen=True)
class CharacterInput:
    """Arrays as `srCharacterDef` wants them; see native/include/softrig/character.h."""

    skin_positions: FloatArray
    skin_triangles: IntArray
    weight_starts: IntArray
    weight_bones: IntArray
    weight_values: FloatArray
    bone_rests: FloatArray
    bone_lengths: FloatArray
    bone_parents: IntArray
    bone_loose_tips: FloatArray
    bone_spaces: IntArray
    space_to_skin: FloatArray
    target_node_count: int
    maps: MapsInput = MapsInput()
    mesher: int = 0
    inside: InsideInput = InsideInput()

    @property
    def vertex_count(self) -> int:
        return len(self.skin_positions) // 3

    @property
    def bone_count(self) -> int:
        return len(self.bone_lengths)

    @property
    def space_count(self) -> int:
        return len(self.space_to_skin) // 16


@dataclass(frozen=True)
class ShotSettings:
    """How the flesh behaves, in the library's units."""

    frequency_hz: float = 2.0
    settle_frames: float = 24.0
    young_modulus_pa: float = 0.0
    poisson_ratio: float = 0.45
    density_kg_m3: float = 1000.0
    pose_correction: float = 0.0
    substeps: int = 10
    solver: int = bindings.Solver.COMPLEMENTARY
    complement: int = bindings.Complement.AUTOMATIC
    material: int = bindings.MaterialKind.RIGID
    fibre_stiffness: float = 1.0
    stretch_limit: float = 0.0
    swings: int = bindings.Swings.FADE
    loop: int = bindings.Loop.NONE
    rest_gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In skin space: what the modelled shape yields to already."""


@dataclass(frozen=True)
class FrameRange:
    """The frames that are shown and baked; `rate` is frames a second.

    `stretch` is how many of them one frame of the animation takes: Blender's Time Remapping.
    The shot begins `pre_roll` frames earlier; `held` means that the rig stands still in those.
    """

    first: int
    count: int
    rate: float
    stretch: float = 1.0
    pre_roll: int = 0
    held: bool = False
    samples: int = field(default=1, repr=False)
    """Rows of a bake for each frame but the last; a shot has one."""

    @property
    def last(self) -> int:
        return self.first + self.count - 1

    @property
    def shot_first(self) -> int:
        return self.first - self.pre_roll

    @property
    def shot_count(self) -> int:
        return self.count + self.pre_roll

    @property
    def sample_count(self) -> int:
        """Rows of a bake."""
        return (self.count - 1) * self.samples + 1

    def to_scene(self, frame: int) -> int:
        """The frame of the scene whose pose the shot has at a frame."""
        return max(frame, self.first) if self.held else frame


@dataclass(frozen=True)
class JobStatus:
    """Where preparing or baking stands."""

    running: bool
    failed: bool
    result: int
    progress: float
    message: str


@dataclass(frozen=True)
class ShotStatus:
    """Where recording and simulating stand."""

    frame_count: int
    recorded: int
    ready: int
    running: bool
    limited_nodes: int
    seconds: float
    loop_seam: float = 0.0
    """The largest jump where a loop closes, as a share of the character's size."""
    loop_rounds: int = 0
    provisional_frame: int | None = None
    """About what a frame will be that is not ready: `Api.read_provisional`."""
    motion_shapes: int = 0
    """Of what the animation does, where that is held: how many shapes it goes through."""
    message: str = ""
    """Why the flesh keeps to its pose from the last ready frame on; empty when it does not."""
