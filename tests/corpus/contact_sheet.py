# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws cages cut open into one picture: contact_sheet.py CAGE.mesh... -o SHEET.png

A cage is what `softrig prepare MESH -o FILE --cage CAGE.mesh` writes. Of each, the half before a
plane through
the middle of its nodes, across its shortest side, is taken away. Whole cells of the rest are drawn,
those at the cut in the colour of their smallest dihedral angle: red at 0 degrees, yellow at 20,
green at 40 and more. What is skin is grey.
A number in the corner tells which file it is. Standard library only.
"""

import argparse
import math
import struct
import sys
import zlib
from pathlib import Path

Vector = tuple[float, float, float]
Colour = tuple[int, int, int]

TILE = 320
COLUMNS = 4
BACKGROUND = (250, 250, 248)
SKIN = (150, 152, 160)
LIGHT = (0.35, -0.8, 0.49)
FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))
EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
# three dots a row, five rows a digit
DIGIT_ROWS = {
    "0": "75557",
    "1": "26227",
    "2": "71747",
    "3": "71717",
    "4": "55711",
    "5": "74717",
    "6": "74757",
    "7": "71111",
    "8": "75757",
    "9": "75717",
}


def read_cage(path: Path) -> tuple[list[Vector], list[tuple[int, ...]]]:
    """Nodes and cells of a MEDIT file."""
    words = iter(path.read_text(encoding="ascii").split())
    nodes: list[Vector] = []
    cells: list[tuple[int, ...]] = []
    for word in words:
        if word == "Vertices":
            for _ in range(int(next(words))):
                nodes.append((float(next(words)), float(next(words)), float(next(words))))
                next(words)
        elif word == "Tetrahedra":
            for _ in range(int(next(words))):
                cells.append(tuple(int(next(words)) - 1 for _ in range(4)))
                next(words)
    if not cells:
        sys.exit(f"{path}: there are no cells in it")
    return nodes, cells


def sub(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def unit(a: Vector) -> Vector:
    length = math.sqrt(dot(a, a)) or 1.0
    return (a[0] / length, a[1] / length, a[2] / length)


def normal(points: list[Vector]) -> Vector:
    return unit(cross(sub(points[1], points[0]), sub(points[2], points[0])))


def smallest_angle(corners: list[Vector]) -> float:
    """The smallest angle between two faces of a cell, in degrees."""
    normals = [normal([corners[i] for i in face]) for face in FACES]
    cosines = [-dot(normals[a], normals[b]) for a, b in EDGES]
    return math.degrees(math.acos(min(max(*cosines, -1.0), 1.0)))


def colour_of(angle: float) -> Colour:
    share = min(max(angle / 40.0, 0.0), 1.0)
    return (int(230 * min(1.0, 2.0 - 2.0 * share)), int(200 * min(1.0, 2.0 * share)), 60)


def shade(colour: Colour, n: Vector) -> Colour:
    light = 0.55 + 0.45 * max(dot(n, unit(LIGHT)), 0.0)
    return tuple(int(channel * light) for channel in colour)


class Tile:
    """A square picture with depth, seen along y from above a little."""

    def __init__(self, lower: Vector, upper: Vector) -> None:
        self.pixels = [BACKGROUND] * (TILE * TILE)
        self.depths = [math.inf] * (TILE * TILE)
        self.middle = tuple(0.5 * (a + b) for a, b in zip(lower, upper, strict=True))
        self.scale = 0.9 * TILE / (math.dist(lower, upper) or 1.0)

    def project(self, point: Vector) -> Vector:
        """Right, down and away, in pixels."""
        x, y, z = sub(point, self.middle)
        turn, tilt = math.radians(25.0), math.radians(20.0)
        x, y = x * math.cos(turn) + y * math.sin(turn), y * math.cos(turn) - x * math.sin(turn)
        y, z = y * math.cos(tilt) - z * math.sin(tilt), z * math.cos(tilt) + y * math.sin(tilt)
        return (TILE / 2 + self.scale * x, TILE / 2 - self.scale * z, self.scale * y)

    def draw_triangle(self, points: list[Vector], colour: Colour) -> None:
        """With its edges darker."""
        a, b, c = (self.project(point) for point in points)
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area == 0.0:
            return
        heights = [
            abs(area) / (math.dist(p[:2], q[:2]) or 1.0) for p, q in ((b, c), (c, a), (a, b))
        ]
        dark = tuple(channel // 2 for channel in colour)
        for row in range(
            max(int(min(a[1], b[1], c[1])), 0), min(int(max(a[1], b[1], c[1])) + 2, TILE)
        ):
            left, right = int(min(a[0], b[0], c[0])), int(max(a[0], b[0], c[0])) + 2
            for column in range(max(left, 0), min(right, TILE)):
                u = ((b[0] - column) * (c[1] - row) - (b[1] - row) * (c[0] - column)) / area
                v = ((c[0] - column) * (a[1] - row) - (c[1] - row) * (a[0] - column)) / area
                w = 1.0 - u - v
                if u < 0.0 or v < 0.0 or w < 0.0:
                    continue
                depth, at = u * a[2] + v * b[2] + w * c[2], row * TILE + column
                if depth < self.depths[at]:
                    self.depths[at] = depth
                    is_edge = min(u * heights[0], v * heights[1], w * heights[2]) < 0.7
                    self.pixels[at] = dark if is_edge else colour

    def draw_number(self, number: int) -> None:
        for place, digit in enumerate(str(number)):
            for row, bits in enumerate(DIGIT_ROWS[digit]):
                for column in range(3):
                    if int(bits) >> (2 - column) & 1:
                        self.draw_dot(6 + 12 * place + 3 * column, 6 + 3 * row)

    def draw_dot(self, left: int, top: int) -> None:
        for row in range(top, top + 3):
            for column in range(left, left + 3):
                self.pixels[row * TILE + column] = (40, 40, 40)


def turn_flat_side(nodes: list[Vector]) -> list[Vector]:
    """So that the shortest side runs along y, away from who looks; z stays up if it can."""
    extents = [max(x[i] for x in nodes) - min(x[i] for x in nodes) for i in range(3)]
    shortest = extents.index(min(extents))
    if shortest == 0:
        return [(-y, x, z) for x, y, z in nodes]
    return nodes if shortest == 1 else [(x, -z, y) for x, y, z in nodes]


def draw_cage(path: Path, number: int) -> tuple[Tile, str]:
    """The picture, and a line about the cage."""
    nodes, cells = read_cage(path)
    nodes = turn_flat_side(nodes)
    lower, upper = (tuple(pick(x[i] for x in nodes) for i in range(3)) for pick in (min, max))
    middle = sum(node[1] for node in nodes) / len(nodes)
    kept, angles = [], []
    for cell in cells:
        corners = [nodes[i] for i in cell]
        angles.append(smallest_angle(corners))
        if sum(corner[1] for corner in corners) / 4.0 > middle:
            kept.append((cell, corners, angles[-1]))

    # a face of one cell is seen; it is skin if it was one before the cut
    counts: dict[tuple[int, ...], int] = {}
    kept_counts: dict[tuple[int, ...], int] = {}
    for table, chosen in ((counts, cells), (kept_counts, [cell for cell, _, _ in kept])):
        for cell in chosen:
            for face in FACES:
                key = tuple(sorted(cell[i] for i in face))
                table[key] = table.get(key, 0) + 1
    tile = Tile(lower, upper)
    for cell, corners, angle in kept:
        for face in FACES:
            key = tuple(sorted(cell[i] for i in face))
            if kept_counts[key] == 1:
                points = [corners[i] for i in face]
                colour = SKIN if counts[key] == 1 else colour_of(angle)
                tile.draw_triangle(points, shade(colour, normal(points)))
    tile.draw_number(number)
    text = f"{number:3} {path.name}: {len(nodes)} nodes, {len(cells)} cells, "
    return tile, text + f"smallest dihedral angle {min(angles):.1f} degrees"


def write_png(path: Path, width: int, rows: list[list[Colour]]) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    raw = b"".join(b"\0" + bytes(channel for pixel in row for channel in pixel) for row in rows)
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(raw, 9)), chunk(b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def join_tiles(tiles: list[Tile]) -> list[list[Colour]]:
    rows = []
    for first in range(0, len(tiles), COLUMNS):
        group = [tile.pixels for tile in tiles[first : first + COLUMNS]]
        group += [[BACKGROUND] * (TILE * TILE)] * (COLUMNS - len(group))
        for row in range(TILE):
            rows.append([pixel for tile in group for pixel in tile[row * TILE : (row + 1) * TILE]])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cages", nargs="+", type=Path)
    parser.add_argument("-o", dest="sheet", type=Path, required=True)
    arguments = parser.parse_args()
    tiles = []
    for number, path in enumerate(arguments.cages, 1):
        tile, text = draw_cage(path, number)
        print(text)
        tiles.append(tile)
    write_png(arguments.sheet, COLUMNS * TILE, join_tiles(tiles))


if __name__ == "__main__":
    main()
