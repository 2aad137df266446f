# SPDX-License-Identifier: GPL-3.0-or-later
"""From the artist's dials to the library's numbers. Units in the names; converted only here."""

from ..native.inputs import ShotSettings

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


def make_settings(
    *,
    softness: float,
    settle_frames: float,
    volume: float,
    pose_correction: float,
    stiffness_kpa: float,
    density_kg_m3: float,
    substeps: int,
) -> ShotSettings:
    return ShotSettings(
        frequency_hz=frequency_from_softness(softness),
        settle_frames=settle_frames,
        young_modulus_pa=1000.0 * stiffness_kpa,
        poisson_ratio=volume,
        density_kg_m3=density_kg_m3,
        pose_correction=pose_correction,
        substeps=substeps,
    )
