# SPDX-License-Identifier: GPL-3.0-or-later
"""The character's colours: one picture and its UV map, painted from the rest shape.

The picture holds the front view, the back view, and a band for the tail from root to tip. Eyes and
mouth are painted, so they move with the skin and need no objects of their own.
"""

import numpy as np

from . import field, skeleton

Array = np.ndarray
Colour = tuple[float, float, float]

SIZE = 1024

# sRGB
FUR: Colour = (0.38, 0.75, 0.74)
FUR_LOW: Colour = (0.28, 0.63, 0.68)
DARK: Colour = (0.13, 0.29, 0.38)
CREAM: Colour = (0.99, 0.93, 0.80)
PINK: Colour = (0.96, 0.62, 0.56)
INK: Colour = (0.10, 0.09, 0.15)
WHITE: Colour = (1.0, 1.0, 1.0)

# the picture in metres: two views side by side, then the tail's band above them
_VIEW_WIDTH = 1.50
_METRES = 2.0 * _VIEW_WIDTH
_BAND = (2.20, 2.60)
_SOFT = 1.5 * _METRES / SIZE


def _mix(picture: Array, cover: Array, colour: Colour) -> Array:
    cover = cover[..., None]
    return picture * (1.0 - cover) + np.array(colour) * cover


def _oval(x: Array, z: Array, centre: tuple[float, float], size: tuple[float, float]) -> Array:
    """Coverage of an oval, with an edge one and a half pixels wide."""
    dx, dz = (x - centre[0]) / size[0], (z - centre[1]) / size[1]
    distance = (np.sqrt(dx * dx + dz * dz) - 1.0) * min(size)
    return np.clip(0.5 - distance / _SOFT, 0.0, 1.0)


def _stroke(x: Array, z: Array, line: tuple, widths: tuple) -> Array:
    """Coverage of a line of changing width through points (x, z)."""
    tube = field.Tube(tuple((p[0], 0.0, p[1]) for p in line), widths)
    points = np.stack([x.ravel(), np.zeros(x.size), z.ravel()], axis=1)
    distance = field.along(points, tube)[0].reshape(x.shape)
    return np.clip(0.5 - distance / _SOFT, 0.0, 1.0)


def _fur(x: Array, z: Array) -> Array:
    """Base colour of both views: deeper low down, dark at feet and ear tips."""
    picture = np.broadcast_to(np.array(FUR), (*x.shape, 3))
    picture = _mix(picture, 1.0 - skeleton.smooth(0.25, 1.0, z), FUR_LOW)
    ears = skeleton.smooth(0.46, 0.56, np.abs(x)) * skeleton.smooth(1.45, 1.50, z)
    return _mix(picture, ears, DARK)


def _front(x: Array, z: Array) -> Array:
    side = np.abs(x)
    picture = _fur(x, z)
    picture = _mix(picture, _oval(side, z, (0.0, 0.53), (0.265, 0.275)), CREAM)
    picture = _mix(picture, _oval(side, z, (0.0, 1.15), (0.185, 0.115)), CREAM)
    inner = tuple((p[0], p[2]) for p in field.EAR.line[6::3])
    inner_ear = _stroke(side, z, inner, (0.02, 0.04, 0.052, 0.055, 0.05, 0.04, 0.02))
    picture = _mix(picture, inner_ear, PINK)
    for toe in (0.14, 0.21, 0.28):
        picture = _mix(picture, _oval(side, z, (toe, 0.05), (0.024, 0.032)), CREAM)
    return _face(picture, x, z)


def _face(picture: Array, x: Array, z: Array) -> Array:
    side = np.abs(x)
    picture = _mix(picture, 0.85 * _oval(side, z, (0.265, 1.155), (0.058, 0.040)), PINK)
    picture = _mix(picture, _oval(side, z, (0.150, 1.285), (0.058, 0.080)), INK)
    for eye in (-0.150, 0.150):
        picture = _mix(picture, _oval(x, z, (eye + 0.018, 1.318), (0.021, 0.026)), WHITE)
        picture = _mix(picture, _oval(x, z, (eye - 0.020, 1.245), (0.011, 0.013)), WHITE)
    picture = _mix(picture, _oval(side, z, (0.0, 1.205), (0.044, 0.029)), INK)
    smile = ((0.0, 1.125), (0.035, 1.108), (0.075, 1.120), (0.095, 1.142))
    picture = _mix(picture, _stroke(side, z, smile, (0.008, 0.009, 0.009, 0.006)), INK)
    return _mix(picture, _oval(x, z, (0.012, 1.216), (0.011, 0.007)), WHITE)


def _back(x: Array, z: Array) -> Array:
    picture = _fur(x, z)
    for height, width in ((1.30, 0.15), (1.12, 0.13), (0.94, 0.14), (0.76, 0.12)):
        picture = _mix(picture, _oval(x, z, (0.0, height), (width, 0.036)), DARK)
    return picture


def _tail(place: Array) -> Array:
    picture = np.broadcast_to(np.array(FUR_LOW), (*place.shape, 3))
    for low, high, colour in ((0.30, 0.42, DARK), (0.54, 0.66, DARK), (0.78, 2.0, CREAM)):
        cover = skeleton.smooth(low - 0.01, low + 0.01, place)
        cover = cover * (1.0 - skeleton.smooth(high - 0.01, high + 0.01, place))
        picture = _mix(picture, cover, colour)
    return picture


def picture() -> Array:
    """The picture, `SIZE` x `SIZE` x 4, sRGB values from 0 to 1, lowest row first."""
    at = (np.arange(SIZE) + 0.5) * _METRES / SIZE
    z, u = np.meshgrid(at, at, indexing="ij")
    half = SIZE // 2
    colours = np.empty((SIZE, SIZE, 4))
    colours[:, :half, :3] = _front(u[:, :half] - 0.5 * _VIEW_WIDTH, z[:, :half])
    colours[:, half:, :3] = _back(u[:, half:] - 1.5 * _VIEW_WIDTH, z[:, half:])
    band = (at > _BAND[0] - 0.1) & (at < _BAND[1] + 0.1)
    colours[band, :, :3] = _tail(u[band] / _METRES)
    colours[..., 3] = 1.0
    return colours


def uv(points: Array, faces: Array) -> Array:
    """Texture coordinates of every corner of every face, in face order."""
    corners = points[faces]
    diagonal, other = corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]
    facing = diagonal[:, 2] * other[:, 0] - diagonal[:, 0] * other[:, 2]
    behind = (facing > 0.0)[:, None]
    u = corners[..., 0] + np.where(behind, 1.5, 0.5) * _VIEW_WIDTH
    v = corners[..., 2]

    distance = field.part_distances(points)
    tail = distance["tail"] < np.minimum(distance["body"], distance["head"])
    on_tail = tail[faces].all(axis=1)[:, None]
    place = field.along(points, field.TAIL)[1][faces]
    u = np.where(on_tail, np.clip(place, 0.01, 0.99) * _METRES, u)
    v = np.where(on_tail, 0.5 * (_BAND[0] + _BAND[1]), v)
    return np.stack([u, v], axis=-1).reshape(-1, 2) / _METRES
