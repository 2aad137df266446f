# SPDX-License-Identifier: GPL-3.0-or-later
"""Tissues to choose from, and the files in which artists keep their own. Pure.

The weights are measured ones, in kg/m^3: adipose tissue 950, muscle 1050, skin 1090, cartilage
1100 (ICRU Report 44, 1989), rubber 1100, gelatine as water. How fast and how long each swings is a
choice for the eye, in the order in which tissues are stiff: Young's moduli run from 3 kPa for fat
(Samani et al. 2007) over tens for muscle to a thousand and more for the cartilage of ears (Griffin
et al. 2016). No preset gives a stiffness in kPa: it would be right for one size of character only.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from .rig import RefusalError
from .settings import softness_from_frequency

LIMITS = {
    "softness": (0.0, 1.0),
    "settle_frames": (1.0, 10_000.0),
    "volume": (0.0, 0.5),
    "density": (1.0, 100_000.0),
    "stiffness_kpa": (0.0, 1_000_000.0),
    "pose_correction": (0.0, 1.0),
}
"""What a preset holds, and from where to where; a test compares them with the properties."""

Values = Mapping[str, float]
MARK = "softrig_preset"
VERSION = 1
LARGEST_FILE = 65_536
NAME_LENGTH = 60


@dataclass(frozen=True)
class Tissue:
    key: str
    name: str
    text: str
    values: Values


def _tissue(
    key: str, text: str, hertz: float, settle: float, volume: float, density: float
) -> Tissue:
    values = {
        "softness": round(softness_from_frequency(hertz), 3),
        "settle_frames": settle,
        "volume": volume,
        "density": density,
        "stiffness_kpa": 0.0,
        "pose_correction": 0.0,
    }
    return Tissue(key, key.replace("_", " ").title(), text, values)


TISSUES = (
    _tissue("FLESH", "What Softrig begins with: a bit of everything", 2.0, 24.0, 0.45, 1000.0),
    _tissue("FAT", "Bellies, cheeks, bottoms: heavy, keeps its volume", 1.8, 30.0, 0.48, 950.0),
    _tissue("MUSCLE", "Quivers shortly at an impact", 4.5, 9.0, 0.47, 1050.0),
    _tissue("SKIN", "Loose skin and wattles: quick, soon quiet", 3.2, 12.0, 0.42, 1090.0),
    _tissue("JELLY", "Wobbles slowly and for long", 1.4, 72.0, 0.49, 1000.0),
    _tissue("RUBBER", "Springs back again and again", 3.6, 48.0, 0.49, 1100.0),
    _tissue("EAR_CARTILAGE", "Ears and fins: flap once or twice", 2.8, 16.0, 0.35, 1100.0),
    _tissue("TAIL", "Tails and trunks: lag far behind", 1.1, 36.0, 0.45, 1050.0),
    _tissue("ANTENNA", "Thin and springy: quivers quickly", 5.5, 40.0, 0.3, 1200.0),
    _tissue("INFLATABLE", "Balloons: light, wind moves them", 2.5, 20.0, 0.3, 30.0),
)


def find_tissue(values: Values) -> Tissue | None:
    """The one that has these values, as exactly as float32 keeps them."""
    for tissue in TISSUES:
        if all(math.isclose(values[name], tissue.values[name], rel_tol=1e-5) for name in LIMITS):
            return tissue
    return None


def to_json(values: Values) -> str:
    kept = {name: round(float(values[name]), 6) for name in LIMITS}
    return json.dumps({MARK: VERSION, "dials": kept}, indent=2) + "\n"


def from_json(text: str, name: str) -> dict[str, float]:
    """The dials of a file; what is missing in it stays as it is. Refuses what makes no sense."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusalError(f'"{name}" is damaged, or no preset at all.') from error
    if not isinstance(data, dict) or MARK not in data:
        raise RefusalError(f'"{name}" is no preset of Softrig.')
    if data[MARK] is True or data[MARK] != VERSION:
        raise RefusalError(f'"{name}" comes from another version of Softrig.')
    dials = data.get("dials")
    if not isinstance(dials, dict):
        raise RefusalError(f'"{name}" holds no dials.')
    return {dial: _checked(dials[dial], dial, name) for dial in LIMITS if dial in dials}


def _checked(value: object, dial: str, name: str) -> float:
    least, most = LIMITS[dial]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:  # type: ignore[operator]
        raise RefusalError(
            f'"{name}" is damaged: "{dial}" has to be a number from {least:g} to {most:g}.'
        )
    return float(value)  # type: ignore[arg-type]


def file_name(name: str) -> str:
    """For a name that an artist types: no folders, nothing hidden, nothing too long."""
    safe = "".join(c if c.isalnum() or c in " -_()" else "_" for c in name.strip())
    safe = safe[:NAME_LENGTH].strip()
    if not safe:
        raise RefusalError("Give the preset a name.")
    return f"{safe}.json"
