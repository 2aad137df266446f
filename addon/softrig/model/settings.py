# SPDX-License-Identifier: GPL-3.0-or-later
"""From the artist's dials to the library's numbers. Units in the names; converted only here."""

import math
from dataclasses import dataclass

from ..native.bindings import Complement, Loop, MaterialKind, Mesher, Solver, Swings
from ..native.inputs import InsideInput, ShotSettings

SLOWEST_HZ = 0.5
FASTEST_HZ = 8.0
DEFAULT_SOFTNESS = 0.5
DEFAULT_LOOSE_PARTS = "ear, tail, fin, antenna, hair, tongue, belly, trunk"


def frequency_from_softness(softness: float) -> float:
    """0 is 8 Hz, 0.5 is 2 Hz, 1 is 0.5 Hz: equal steps of the slider feel equal.

    Rounded, so that the last bit of another machine's power function changes nothing.
    """
    softness = min(max(softness, 0.0), 1.0)
    return round(FASTEST_HZ * (SLOWEST_HZ / FASTEST_HZ) ** softness, 4)


def softness_from_frequency(hertz: float) -> float:
    """The other way round."""
    return math.log(hertz / FASTEST_HZ) / math.log(SLOWEST_HZ / FASTEST_HZ)


@dataclass(frozen=True)
class Choice:
    """One entry of a list that the artist chooses from; `number` is the library's, for ever."""

    key: str
    name: str
    text: str
    number: int


SOLVERS = (
    Choice(
        "COMPLEMENTARY",
        "Complementary",
        "Moves only as the rig could not have: never fights the pose. The best",
        Solver.COMPLEMENTARY,
    ),
    Choice("FLESH", "Fast Flesh", "Shape and volume of each cell together. Quick", Solver.FLESH),
    Choice("XPBD", "Springy", "Springs and cells that keep their volume", Solver.XPBD),
)
"""The first is the default."""

COMPLEMENTS = (
    Choice(
        "AUTOMATIC",
        "Automatic",
        "Whatever the bones could do; without any bone, what the animation does",
        Complement.AUTOMATIC,
    ),
    Choice(
        "BONES",
        "Bones",
        "Whatever the bones could do: heads and feet stay where the pose has them",
        Complement.BONES,
    ),
    Choice(
        "MOTION",
        "Recorded Motion",
        "The shapes that the animation goes through in this shot, from lattices, shape keys and "
        "all. The whole shot is simulated again whenever one of its frames changes",
        Complement.MOTION,
    ),
    Choice(
        "NOTHING",
        "Nothing",
        "All flesh floats about its pose, drawn back by Softness. Painted Hold and Pin hold on",
        Complement.NOTHING,
    ),
)
"""What physics does not add to, where flesh is held. The first is the default."""

MATERIALS = (
    Choice(
        "RIGID",
        "As Rigid As Possible",
        "Flesh. The only one that leaves held poses alone",
        MaterialKind.RIGID,
    ),
    Choice(
        "COROTATED",
        "Corotated",
        "Like flesh, and every bit of it keeps its volume. Pulls to the modelled shape",
        MaterialKind.COROTATED,
    ),
    Choice(
        "NEO_HOOKEAN",
        "Neo-Hookean",
        "Rubber. Pulls to the modelled shape",
        MaterialKind.NEO_HOOKEAN,
    ),
    Choice(
        "ST_VENANT",
        "St. Venant-Kirchhoff",
        "The stiffer the more it is stretched. Pulls to the modelled shape",
        MaterialKind.ST_VENANT_KIRCHHOFF,
    ),
)
"""The first is the default."""

SWINGS = (
    Choice(
        "FADE",
        "Fade",
        "Quick swings fade sooner than slow ones. Calm whatever the flesh is, and the quickest",
        Swings.FADE,
    ),
    Choice(
        "LAST",
        "Last",
        "Quick swings last longer. Very stiff flesh that hardly settles may build up a swing",
        Swings.LAST,
    ),
    Choice(
        "KEEP",
        "Keep",
        "Nothing is lost but what Settle takes: for swings that go on and on. Many times slower",
        Swings.KEEP,
    ),
)
"""How long swings last beside Settle. The first is the default."""

MESHERS = (
    Choice(
        "AUTOMATIC",
        "Automatic",
        "What was measured to be better: TetGen where the skin is clean, else the lattice",
        Mesher.AUTOMATIC,
    ),
    Choice(
        "LATTICE", "Lattice", "Takes any mesh, and keeps apart what only touches", Mesher.LATTICE
    ),
    Choice(
        "TETGEN",
        "TetGen",
        "Cells along the skin, which follow thin and curved parts. What TetGen cannot fill, the "
        "lattice does",
        Mesher.TETGEN,
    ),
)
"""The first is the default."""

NO_LOOP = "NONE"
LOOPS = (
    Choice(NO_LOOP, "None", "The shot begins and ends", Loop.NONE),
    Choice(
        "LAST_IS_FIRST",
        "Closed",
        "The last frame shows the pose of the first again",
        Loop.LAST_IS_FIRST,
    ),
    Choice(
        "FIRST_FOLLOWS_LAST",
        "Endless",
        "The first frame is the one after the last, as games play it",
        Loop.FIRST_FOLLOWS_LAST,
    ),
)

PRE_ROLLS = (
    Choice("NONE", "None", "Begins in the pose, going along with the rig", 0),
    Choice("SETTLE", "Settle", "The first pose is held for some frames before: begins at rest", 1),
    Choice("RUN_IN", "Run In", "The animation before the first frame counts: begins in motion", 2),
)


@dataclass(frozen=True)
class Quality:
    """How fine the simulation is; the finer, the slower."""

    key: str
    name: str
    nodes: int
    substeps: int

    @property
    def text(self) -> str:
        return f"A cage of about {self.nodes} points, Substeps {self.substeps}"


QUALITIES = (
    Quality("DRAFT", "Draft", 400, 6),
    Quality("NORMAL", "Normal", 1000, 10),
    Quality("FINE", "Fine", 3000, 16),
    Quality("FINEST", "Finest", 8000, 24),
)
OWN_QUALITY = len(QUALITIES)
"""The number of what is none of these."""


def find_quality(nodes: int, substeps: int) -> int:
    """Which of the qualities this is, by number."""
    for number, quality in enumerate(QUALITIES):
        if (quality.nodes, quality.substeps) == (nodes, substeps):
            return number
    return OWN_QUALITY


def number_of(choices: tuple[Choice, ...], key: str) -> int:
    """A key that a later version knew counts as the first choice."""
    return next((choice.number for choice in choices if choice.key == key), choices[0].number)


def make_inside(
    *, hole_percent: float, sheet_percent: float, fills_hollows: bool, joins_touching: bool
) -> InsideInput:
    """Seven digits, as Blender keeps its numbers: 0.3 % is the same text wherever it is read."""
    return InsideInput(
        largest_hole=float(f"{hole_percent / 100.0:.7g}"),
        sheet_thickness=float(f"{sheet_percent / 100.0:.7g}"),
        fills_hollows=fills_hollows,
        joins_touching=joins_touching,
    )


def make_settings(
    *,
    softness: float,
    settle_frames: float,
    volume: float,
    pose_correction: float,
    stiffness_kpa: float,
    density_kg_m3: float,
    substeps: int,
    solver: str = SOLVERS[0].key,
    complement: str = COMPLEMENTS[0].key,
    material: str = MATERIALS[0].key,
    fibre_stiffness: float = 1.0,
    stretch_limit: float = 0.0,
    swings: str = SWINGS[0].key,
    loop: str = LOOPS[0].key,
) -> ShotSettings:
    return ShotSettings(
        frequency_hz=frequency_from_softness(softness),
        settle_frames=settle_frames,
        young_modulus_pa=1000.0 * stiffness_kpa,
        poisson_ratio=volume,
        density_kg_m3=density_kg_m3,
        pose_correction=pose_correction,
        substeps=substeps,
        solver=number_of(SOLVERS, solver),
        complement=number_of(COMPLEMENTS, complement),
        material=number_of(MATERIALS, material),
        fibre_stiffness=fibre_stiffness,
        stretch_limit=max(stretch_limit, 1.0) if stretch_limit > 0.0 else 0.0,
        swings=number_of(SWINGS, swings),
        loop=number_of(LOOPS, loop),
    )
