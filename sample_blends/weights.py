# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws weights on six characters: above Blender's Automatic Weights, below Softrig's.

./softrig weights               the picture goes into weights/, figures to the terminal
./softrig weights --data DIR    figures alone: OBJ files of a folder, each with a chain of bones
./softrig weights --coarse      figures alone: coarse shapes and a fine torus, with bones at will
"""

import argparse
import colorsys
import os
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sample_blends import character, demo, puppet, render, smoothness, strips
from sample_blends.samples import SAMPLES

SIZE = (300, 300)
NAMES = ("demo", *SAMPLES)
AUTOMATIC, OURS = "Automatic Weights", "Softrig Weights"
UNWEIGHTED = (0.05, 0.05, 0.05)


def build(name: str) -> tuple[Any, Any]:
    """One skin and its armature at rest, alone in the file; nothing else deforms the skin."""
    character.start_empty()
    skin = character.build()[0] if name == "demo" else SAMPLES[name].build()[0]
    armature = next(m.object for m in skin.modifiers if m.type == "ARMATURE")
    for other in list(bpy.context.scene.objects):
        if other not in (skin, armature):
            bpy.data.objects.remove(other)
    armature.data.pose_position = "REST"
    armature.hide_render = True
    skin.parent = None
    for ob in (armature, skin):
        ob.animation_data_clear()
        ob.matrix_world = Matrix()
    skin.vertex_groups.clear()
    bpy.context.view_layer.update()
    return skin, armature


def weigh(skin: Any, armature: Any, method: str) -> None:
    skin.vertex_groups.clear()
    puppet.make_active(skin)
    if method == OURS:
        assert bpy.ops.softrig.weigh() == {"FINISHED"}
        return
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")


def read_weights(skin: Any, names: list[str]) -> np.ndarray:
    """(vertices, bones)"""
    table = np.zeros((len(skin.data.vertices), len(names)))
    column = {
        group.index: names.index(group.name) for group in skin.vertex_groups if group.name in names
    }
    for vertex in skin.data.vertices:
        for entry in vertex.groups:
            if entry.group in column:
                table[vertex.index, column[entry.group]] = entry.weight
    return table


def read_skin(skin: Any) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles."""
    mesh = skin.data
    mesh.calc_loop_triangles()
    points = np.array([vertex.co for vertex in mesh.vertices], np.float64)
    return points, np.array([triangle.vertices for triangle in mesh.loop_triangles])


def measure(skin: Any, table: np.ndarray) -> tuple[float, float]:
    """Biharmonic energy on the skin: of all bones together, and at equal hold."""
    points, triangles = read_skin(skin)
    total = float(smoothness.energies(points, triangles, table).sum())
    return total, smoothness.energy_for_hold(points, triangles, table)


def bending(skin: Any, table: np.ndarray) -> float:
    """Squares of how far weights are from the mean of their neighbours', however near these are."""
    edges = np.empty(2 * len(skin.data.edges), np.int32)
    skin.data.edges.foreach_get("vertices", edges)
    a, b = edges.reshape(-1, 2).T
    sums, counts = np.zeros_like(table), np.zeros(len(table))
    for one, other in ((a, b), (b, a)):
        np.add.at(sums, one, table[other])
        np.add.at(counts, one, 1.0)
    return float(((sums / np.maximum(counts, 1.0)[:, None] - table) ** 2).sum())


def count_peaks(skin: Any, table: np.ndarray) -> int:
    """Vertices whose weight is above all neighbours' by a fiftieth, more than one a bone."""
    edges = np.empty(2 * len(skin.data.edges), np.int32)
    skin.data.edges.foreach_get("vertices", edges)
    a, b = edges.reshape(-1, 2).T
    highest = np.zeros_like(table)
    for one, other in ((a, b), (b, a)):
        np.maximum.at(highest, one, table[other])
    return int(np.maximum((table > highest + 0.02).sum(axis=0) - 1, 0).sum())


def paint(skin: Any, table: np.ndarray) -> None:
    """A colour a bone, mixed by weights."""
    count = table.shape[1]
    palette = [
        colorsys.hsv_to_rgb((0.618034 * j) % 1.0, 0.55 + 0.4 * (j % 2), 0.95 - 0.25 * (j % 3 == 1))
        for j in range(count)
    ]
    colours = np.ones((len(table), 4), np.float32)
    total = table.sum(axis=1, keepdims=True)
    colours[:, :3] = table @ np.array(palette) + (1.0 - np.minimum(total, 1.0)) * UNWEIGHTED
    mesh = skin.data
    while mesh.color_attributes:
        mesh.color_attributes.remove(mesh.color_attributes[0])
    layer = mesh.color_attributes.new("Weights", "FLOAT_COLOR", "POINT")
    layer.data.foreach_set("color", colours.ravel())
    mesh.color_attributes.active_color = layer


def set_stage(scene: Any, skin: Any) -> None:
    """A plain backdrop, and a camera that sees all of the skin."""
    render._set_render(scene, SIZE)
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", "VERTEX"
    shading.show_shadows = shading.show_specular_highlight = False
    scene.render.film_transparent = False
    scene.world = bpy.data.worlds.new("World")
    scene.world.color = (0.9, 0.9, 0.9)
    corners = np.array([skin.matrix_world @ v.co for v in skin.data.vertices])
    lower, upper = corners.min(axis=0), corners.max(axis=0)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type = "ORTHO"
    camera.rotation_euler = (1.35, 0.0, 0.65)
    scene.collection.objects.link(camera)
    scene.camera = camera
    bpy.context.view_layer.update()
    turn = np.array(camera.matrix_world.to_3x3())
    seen = corners @ turn
    camera.data.ortho_scale = 1.08 * float(np.ptp(seen[:, :2], axis=0).max())
    middle = turn @ (0.5 * (seen.min(axis=0) + seen.max(axis=0)))
    camera.location = middle + 4.0 * float(np.linalg.norm(upper - lower)) * turn[:, 2]
    camera.data.clip_end = 1000.0


def draw(name: str, folder: Path) -> list[np.ndarray]:
    """Pixels of both methods; figures are printed."""
    pictures = []
    for method in (AUTOMATIC, OURS):
        skin, armature = build(name)
        names = [bone.name for bone in armature.data.bones if bone.use_deform]
        set_stage(bpy.context.scene, skin)
        weigh(skin, armature, method)
        table = read_weights(skin, names)
        alone = int((table.sum(axis=1) < 1e-4).sum())
        energy, for_hold = measure(skin, table)
        print(
            f"{name:8} {len(table):5} vertices {len(names):2} bones  {method:17}"
            f" without {alone:3}  energy {energy:8.0f}  at equal hold {for_hold:8.2e}"
            f"  bending {bending(skin, table):7.3f}  stray peaks {count_peaks(skin, table):2}"
            f"  weakest bone {table.max(axis=0).min():5.2f}",
            flush=True,
        )
        paint(skin, table)
        path = folder / "frames" / f"{name}-{method.split()[0]}.png"
        bpy.context.scene.render.filepath = str(path)
        bpy.ops.render.render(write_still=True)
        pictures.append(strips._pixels(path))
    return pictures


def read_obj(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Points, two units large and around the origin, and triangles."""
    points, triangles = [], []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            points.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            face = [int(word.split("/")[0]) - 1 for word in words[1:]]
            triangles += [(face[0], b, c) for b, c in zip(face[1:-1], face[2:], strict=True)]
    table = np.array(points)
    lower, upper = table.min(axis=0), table.max(axis=0)
    return 2.0 * (table - 0.5 * (lower + upper)) / (upper - lower).max(), np.array(triangles)


def place_chain(points: np.ndarray, bone_count: int) -> np.ndarray:
    """Joints along the longest side of the bounds, each in the middle of its slice."""
    axis = int(np.argmax(np.ptp(points, axis=0)))
    ends = np.linspace(points[:, axis].min(), points[:, axis].max(), bone_count + 1)
    joints = []
    for end in ends:
        near = points[np.abs(points[:, axis] - end) < 0.15]
        joint = 0.5 * (near.min(axis=0) + near.max(axis=0))
        joint[axis] = 0.85 * end
        joints.append(joint)
    return np.array(joints)


def add_armature(skin: Any, bones: list[Any]) -> Any:
    """An armature of such heads and tails, which deforms the skin."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    puppet.make_active(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    for number, (head, tail) in enumerate(bones):
        bone = armature.data.edit_bones.new(f"Bone.{number}")
        bone.head, bone.tail = head, tail
    bpy.ops.object.mode_set(mode="OBJECT")
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    return armature


def build_chain(path: Path, bone_count: int) -> tuple[Any, Any]:
    """The skin of a file and an armature through it, alone in the file."""
    character.start_empty()
    points, triangles = read_obj(path)
    mesh = bpy.data.meshes.new(path.stem)
    mesh.from_pydata(points.tolist(), [], triangles.tolist())
    skin = bpy.data.objects.new(path.stem, mesh)
    bpy.context.scene.collection.objects.link(skin)
    joints = place_chain(points, bone_count).tolist()
    return skin, add_armature(skin, list(zip(joints[:-1], joints[1:], strict=True)))


COARSE = {
    "cube": ("cube", {"size": 2.0}),
    "cylinder": (
        "cylinder",
        {"vertices": 12, "radius": 0.5, "depth": 2.0, "end_fill_type": "TRIFAN"},
    ),
    "torus": (
        "torus",
        {"major_segments": 16, "minor_segments": 8, "major_radius": 0.7, "minor_radius": 0.3},
    ),
    "fine torus": (
        "torus",
        {"major_segments": 48, "minor_segments": 24, "major_radius": 0.7, "minor_radius": 0.3},
    ),
    "ball": ("uv_sphere", {"segments": 16, "ring_count": 8, "radius": 1.0}),
    "suzanne": ("monkey", {"size": 2.0}),
}


def coarse_bones(name: str, bone_count: int, seed: int) -> list[Any]:
    """Seed 0: a chain through the shape, or around it; else at will, be it out of the flesh."""
    if seed > 0:
        random = np.random.default_rng([seed, bone_count])
        return random.uniform(-0.5, 0.5, (bone_count, 2, 3)).tolist()
    ends = np.linspace(-0.8, 0.8, bone_count + 1)
    joints = np.stack([0.0 * ends, 0.0 * ends, ends], axis=1)
    if "torus" in name:
        angles = np.linspace(0.0, 1.8 * np.pi, bone_count + 1)
        joints = 0.7 * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    return list(zip(joints[:-1].tolist(), joints[1:].tolist(), strict=True))


def build_coarse(name: str, bone_count: int, seed: int) -> tuple[Any, Any]:
    """One of the shapes, alone in the file."""
    character.start_empty()
    operator, options = COARSE[name]
    getattr(bpy.ops.mesh, f"primitive_{operator}_add")(**options)
    skin = bpy.context.object
    return skin, add_armature(skin, coarse_bones(name, bone_count, seed))


def weigh_coarse(name: str, bone_count: int, seed: int) -> tuple[Any, list[np.ndarray]]:
    """The skin, and the weights of both methods."""
    tables = []
    for method in (AUTOMATIC, OURS):
        skin, armature = build_coarse(name, bone_count, seed)
        weigh(skin, armature, method)
        tables.append(read_weights(skin, [bone.name for bone in armature.data.bones]))
    return skin, tables


def contrast(skin: Any, table: np.ndarray) -> float:
    """How far weights are from even ones: the mean over the skin of their squares' distance."""
    points, triangles = read_skin(skin)
    shares = smoothness.areas(points, triangles) / smoothness.areas(points, triangles).sum()
    return float((shares @ (table - shares @ table) ** 2).sum())


def print_coarse() -> None:
    """Energies of both methods, and how different each holds its parts."""
    for name in COARSE:
        for bone_count in (2, 3, 5):
            for seed in (0, 1, 2, 3):
                skin, tables = weigh_coarse(name, bone_count, seed)
                theirs, ours = (measure(skin, table)[0] for table in tables)
                bones = "chain" if seed == 0 else f"at will {seed}"
                print(
                    f"{name:10} {len(skin.data.vertices):4} vertices {bone_count} bones {bones:9}"
                    f"  energy {ours:7.1f} / {theirs:7.1f}"
                    f"  contrast {contrast(skin, tables[1]):.3f} / {contrast(skin, tables[0]):.3f}"
                    f"  weakest bone {tables[1].max(axis=0).min():.2f}"
                    f" / {tables[0].max(axis=0).min():.2f}",
                    flush=True,
                )


def compare(path: Path, bone_count: int) -> None:
    """Prints the energies of both methods."""
    for method in (AUTOMATIC, OURS):
        skin, armature = build_chain(path, bone_count)
        weigh(skin, armature, method)
        table = read_weights(skin, [bone.name for bone in armature.data.bones])
        energy, for_hold = measure(skin, table)
        print(
            f"{path.stem:16} {len(table):6} vertices {bone_count} bones  {method:17}"
            f" without {int((table.sum(axis=1) < 1e-4).sum()):3}  energy {energy:8.0f}"
            f"  at equal hold {for_hold:8.2e}",
            flush=True,
        )


def _main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Draw weights beside Automatic Weights.")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--data", type=Path, help="measure the OBJ files of this folder instead")
    parser.add_argument("--coarse", action="store_true", help="measure coarse shapes instead")
    parsed = parser.parse_args(arguments)
    if parsed.coarse:
        demo.enable_softrig()
        print_coarse()
        return 0
    if parsed.data is not None:
        demo.enable_softrig()
        for path in sorted(parsed.data.glob("*.obj")):
            for bone_count in (2, 4, 7):
                compare(path, bone_count)
        return 0
    folder = parsed.output.resolve()
    (folder / "frames").mkdir(parents=True, exist_ok=True)
    demo.enable_softrig()
    columns = [draw(name, folder) for name in NAMES]
    rows = [np.concatenate([column[row] for column in columns], axis=1) for row in (1, 0)]
    # Blender counts rows of pixels from below
    print(strips._write(folder / "weights.png", np.concatenate(rows, axis=0)))
    return 0


if __name__ == "__main__":
    code = _main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
    sys.stdout.flush()
    # why not sys.exit: bpy 4.5 hangs at exit while an add-on's handler is registered
    os._exit(code)
