# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the sample character and its animation in whatever Blender runs it.

    blender -b --python sample_blends/character.py -- --output FILE.blend
    python sample_blends/character.py --output FILE.blend          (with the bpy package)

Tests, benches and the demo call `build()`; what they look at is named in `MARKERS`.
"""

import argparse
import math
import sys
from pathlib import Path

import bpy
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sample_blends import field, motion, paint, puppet, skeleton, surface

SKIN_NAME = "Pebble"
ARMATURE_NAME = "Pebble Rig"

# edge length of the skin's quads in metres, about
STEP = 0.038

MARKERS = {
    "stop_frame": motion.STOP_FRAME,
    "stop_direction": motion.STOP_DIRECTION,
    "stop_speed": motion.STOP_SPEED,
    "first_frame": motion.FIRST_FRAME,
    "last_frame": motion.LAST_FRAME,
    "fps": motion.FPS,
    "regions": ("belly", "ears", "ear tips", "tail", "tail tip", "head", "feet"),
}

vertices_of = skeleton.vertices_of


def skin_shape() -> tuple[np.ndarray, np.ndarray]:
    """Rest positions and quads of the skin; needs no Blender."""
    box = (field.LOWEST, field.HIGHEST)
    points, faces = surface.surface_nets(field.whole, *box, STEP)
    return surface.relax(field.whole, points, faces, 8), faces


def build() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Adds the character to the current scene; gives its skin and its armature."""
    points, faces = skin_shape()
    armature = puppet.make_armature(ARMATURE_NAME, skeleton.BONES)
    skin = _make_skin(points, faces)
    puppet.paint_weights(skin, skeleton.weights(points))
    puppet.bind(skin, armature)
    _animate(armature)
    puppet.set_frames(bpy.context.scene, motion.FIRST_FRAME, motion.LAST_FRAME, motion.FPS)
    puppet.make_active(skin)
    return skin, armature


def start_empty() -> None:
    """An empty file of factory defaults; preferences and add-ons stay as they are."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def _make_skin(points: np.ndarray, faces: np.ndarray) -> bpy.types.Object:
    skin = puppet.make_skin(SKIN_NAME, points, faces)
    layer = skin.data.uv_layers.new(name="UVMap")
    layer.data.foreach_set("uv", paint.uv(points, faces).astype(np.float32).ravel())
    skin.data.materials.append(_make_material())
    return skin


def _make_material() -> bpy.types.Material:
    image = bpy.data.images.new(f"{SKIN_NAME} colours", paint.SIZE, paint.SIZE)
    image.pixels.foreach_set(paint.picture().astype(np.float32).ravel())
    image.pack()
    material = bpy.data.materials.new(f"{SKIN_NAME} fur")
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    material.diffuse_color = (*paint.FUR, 1.0)
    nodes = material.node_tree.nodes
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Roughness"].default_value = 0.6
    texture = nodes.new("ShaderNodeTexImage")
    texture.image = image
    texture.location = (-320.0, 260.0)
    material.node_tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    nodes.active = texture
    return material


def _animate(armature: bpy.types.Object) -> None:
    curves = puppet.curves_of(armature, f"{SKIN_NAME} jump and stop")
    for (bone, path, index), keys in motion.keys().items():
        curve = curves.new(f'pose.bones["{bone}"].{path}', index=index)
        scale = math.radians(1.0) if path == "rotation_euler" else 1.0
        curve.keyframe_points.add(len(keys))
        for point, (frame, value, way) in zip(curve.keyframe_points, keys, strict=True):
            point.co = (frame, value * scale)
            point.interpolation = way.split("_")[0]
            if way.startswith("QUAD"):
                point.easing = "EASE_OUT" if way == motion.RISE else "EASE_IN"
            point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        curve.update()


def _main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Build the sample character.")
    parser.add_argument("--output", required=True, help="the .blend file to write")
    options = parser.parse_args(arguments)
    start_empty()
    skin, armature = build()
    output = Path(options.output).resolve()
    output.parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(output))
    count, bones = len(skin.data.vertices), len(armature.data.bones)
    print(f"{output}: {count} vertices, {bones} bones, stop at frame {motion.STOP_FRAME}")


if __name__ == "__main__":
    _main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
