# SPDX-License-Identifier: GPL-3.0-or-later
"""The character's four seconds: a jump forwards, a landing, a quick slide, and a dead stop.

Keys are listed per bone and channel as (frame, value, way to the next key). Locations are metres
and rotations degrees, both in the bone's own axes. The root bone lies along +Y, so its axes are
the armature's; hips, chest and head have X = right, Y = up, Z = forwards.
"""

FPS = 24
FIRST_FRAME = 1
LAST_FRAME = 96

# from this frame on nothing moves any more
STOP_FRAME = 45
STOP_DIRECTION = (0.0, -1.0, 0.0)

# metres a second, in the frames just before the stop
STOP_SPEED = 2.8

AUTO, LINE, RISE, FALL = "BEZIER", "LINEAR", "QUAD_OUT", "QUAD_IN"

_SLIDE = STOP_SPEED / FPS

Key = tuple[int, float, str]
Channel = tuple[str, str, int]

KEYS: dict[Channel, tuple[Key, ...]] = {
    ("root", "location", 1): (
        (1, 0.0, LINE),
        (14, 0.0, FALL),
        (17, -0.12, LINE),
        (29, -1.38, RISE),
        (33, -1.48, LINE),
        (35, -1.48, FALL),
        (41, -1.48 - 3.0 * _SLIDE, LINE),
        (STOP_FRAME, -1.48 - 7.0 * _SLIDE, LINE),
    ),
    ("root", "location", 2): (
        (1, 0.0, LINE),
        (17, 0.0, RISE),
        (23, 0.52, FALL),
        (29, 0.0, LINE),
    ),
    ("hips", "location", 1): (
        (1, 0.0, LINE),
        (5, 0.0, AUTO),
        (11, -0.11, AUTO),
        (14, -0.12, AUTO),
        (17, 0.07, AUTO),
        (23, 0.02, AUTO),
        (29, 0.03, AUTO),
        (32, -0.12, AUTO),
        (36, -0.02, AUTO),
        (39, -0.05, AUTO),
        (43, 0.0, AUTO),
        (STOP_FRAME, 0.0, LINE),
    ),
    ("hips", "rotation_euler", 0): (
        (1, 0.0, LINE),
        (5, 0.0, AUTO),
        (13, 10.0, AUTO),
        (17, 16.0, AUTO),
        (23, 2.0, AUTO),
        (29, -14.0, AUTO),
        (33, 6.0, AUTO),
        (39, 8.0, AUTO),
        (44, 0.0, AUTO),
        (STOP_FRAME, 0.0, LINE),
    ),
    ("chest", "location", 1): (
        (1, 0.0, LINE),
        (5, 0.0, AUTO),
        (12, -0.06, AUTO),
        (17, 0.05, AUTO),
        (24, 0.0, AUTO),
        (29, 0.02, AUTO),
        (32, -0.07, AUTO),
        (37, 0.0, AUTO),
        (STOP_FRAME, 0.0, LINE),
    ),
    ("chest", "rotation_euler", 0): (
        (1, 0.0, LINE),
        (5, 0.0, AUTO),
        (13, 12.0, AUTO),
        (18, -10.0, AUTO),
        (24, 4.0, AUTO),
        (29, 4.0, AUTO),
        (32, 12.0, AUTO),
        (36, 4.0, AUTO),
        (39, 8.0, AUTO),
        (44, 0.0, AUTO),
        (STOP_FRAME, 0.0, LINE),
    ),
    ("head", "rotation_euler", 0): (
        (1, 0.0, LINE),
        (5, 0.0, AUTO),
        (12, -14.0, AUTO),
        (17, -16.0, AUTO),
        (23, 6.0, AUTO),
        (29, 10.0, AUTO),
        (33, -10.0, AUTO),
        (36, -4.0, AUTO),
        (39, -12.0, AUTO),
        (44, 0.0, AUTO),
        (STOP_FRAME, 0.0, LINE),
    ),
    ("tail1", "rotation_euler", 0): (
        (1, 0.0, LINE),
        (5, 0.0, AUTO),
        (13, 12.0, AUTO),
        (18, -10.0, AUTO),
        (29, 8.0, AUTO),
        (34, 0.0, AUTO),
        (STOP_FRAME, 0.0, LINE),
    ),
}

# the same on both sides
_PAIRED: dict[Channel, tuple[Key, ...]] = {
    ("arm", "rotation_euler", 0): (
        (1, 0.0, LINE),
        (5, 0.0, AUTO),
        (13, -30.0, AUTO),
        (18, 45.0, AUTO),
        (24, 35.0, AUTO),
        (29, 40.0, AUTO),
        (32, -15.0, AUTO),
        (36, 0.0, AUTO),
        (39, -20.0, AUTO),
        (44, 0.0, AUTO),
        (STOP_FRAME, 0.0, LINE),
    ),
    ("foot", "rotation_euler", 0): (
        (1, 0.0, LINE),
        (15, 0.0, AUTO),
        (17, -20.0, AUTO),
        (19, -36.0, AUTO),
        (23, -22.0, AUTO),
        (27, 14.0, AUTO),
        (29, 0.0, LINE),
    ),
    ("foot", "location", 2): (
        (1, 0.0, LINE),
        (15, 0.0, AUTO),
        (17, 0.15, AUTO),
        (19, 0.12, AUTO),
        (23, 0.06, AUTO),
        (29, 0.0, LINE),
    ),
    ("foot", "location", 1): (
        (1, 0.0, LINE),
        (16, 0.0, AUTO),
        (19, -0.08, AUTO),
        (26, 0.06, AUTO),
        (29, 0.0, LINE),
    ),
}


def keys() -> dict[Channel, tuple[Key, ...]]:
    """All keys, with the paired channels written out for both sides."""
    every = dict(KEYS)
    for (bone, path, index), channel in _PAIRED.items():
        for side in ("L", "R"):
            every[(f"{bone}.{side}", path, index)] = channel
    return every
