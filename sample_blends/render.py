# SPDX-License-Identifier: GPL-3.0-or-later
"""A small stage for the sample character, and quick frames of it without a window.

    blender -b FILE.blend --python sample_blends/render.py -- --output FOLDER --frames 1-96

Workbench draws a frame in about a tenth of a second, in every Blender, without a display.
"""

import argparse
import math
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np

DEFAULT_SIZE = "480x540"
MODIFIER_PREFIX = "Softrig"

# the camera looks from the character's left, this far round from its face
_AZIMUTH_DEGREES = 62.0
_ELEVATION_DEGREES = 9.0
_DISTANCE = 6.0
_LENS = 70.0
_LOOK_HEIGHT = 1.14

# what the camera looks at along the path, and when: it rests before the character stops
_LOOK_START = (12, 0.02)
_LOOK_END = (40, -2.02)

_FLOOR = (0.93, 0.79, 0.66, 1.0)
_MARK = (0.87, 0.70, 0.57, 1.0)

# lights of the picture, in view space: X right, Y up, Z towards the camera
_AMBIENT = (0.34, 0.33, 0.35)
_LIGHT_KEYS = ("use", "direction", "diffuse_color", "specular_color", "smooth")
_LIGHTS = (
    (True, (-0.45, 0.65, 0.60), (0.66, 0.62, 0.55), (0.10, 0.10, 0.10), 0.25),
    (True, (0.80, 0.05, 0.50), (0.10, 0.13, 0.20), (0.02, 0.02, 0.03), 0.60),
    (True, (0.55, 0.60, -0.60), (0.30, 0.26, 0.22), (0.20, 0.20, 0.20), 0.10),
    (True, (0.0, 0.45, 0.90), (0.16, 0.16, 0.17), (0.0, 0.0, 0.0), 0.60),
)


def set_stage(scene: bpy.types.Scene, size: tuple[int, int]) -> None:
    """Adds floor, marks and a camera that glides with the jump; sets Workbench up."""
    _make_floor(scene)
    _make_marks(scene)
    _make_camera(scene)
    _set_render(scene, size)
    _set_shading(scene.display)


def _add_mesh(
    scene: bpy.types.Scene, name: str, points: np.ndarray, faces: list, colour: tuple
) -> None:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), dtype=bool))
    material = bpy.data.materials.new(name)
    material.diffuse_color = colour
    material.roughness = 1.0
    mesh.materials.append(material)
    obj = bpy.data.objects.new(name, mesh)
    obj.display.show_shadows = False
    scene.collection.objects.link(obj)


def _away() -> np.ndarray:
    """Where the camera stands, seen from what it looks at: a unit vector along the floor."""
    angle = math.radians(_AZIMUTH_DEGREES)
    return np.array([math.sin(angle), -math.cos(angle), 0.0])


def _make_floor(scene: bpy.types.Scene) -> None:
    """A floor that bends up into the backdrop, so that there is no horizon."""
    back = -_away()
    side = np.array([back[1], -back[0], 0.0])
    bend = [(-9.0, 0.0), (3.2, 0.0)]
    for i in range(1, 17):
        angle = math.radians(90.0 * i / 16.0)
        bend.append((3.2 + 3.5 * math.sin(angle), 3.5 - 3.5 * math.cos(angle)))
    bend.append((6.7, 12.0))
    rows = np.array([back * d + np.array([0.0, -1.0, h]) for d, h in bend])
    points = np.concatenate([rows - 16.0 * side, rows + 16.0 * side])
    count = len(bend)
    faces = [(i, i + 1, count + i + 1, count + i) for i in range(count - 1)]
    _add_mesh(scene, "Floor", points, faces, _FLOOR)


def _make_marks(scene: bpy.types.Scene) -> None:
    """Bars across the path, so that the eye sees how far the character travels."""
    points, faces = [], []
    for i in range(12):
        y, first = 1.5 - 0.5 * i, len(points)
        for x, dy in ((-0.9, 0.05), (-0.9, -0.05), (0.9, -0.05), (0.9, 0.05)):
            points.append((x, y + dy, 0.003))
        faces.append((first, first + 1, first + 2, first + 3))
    _add_mesh(scene, "Marks", np.array(points), faces, _MARK)


def _make_camera(scene: bpy.types.Scene) -> None:
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.data.lens = _LENS
    rise = math.radians(_ELEVATION_DEGREES)
    camera.rotation_euler = (math.radians(90.0) - rise, 0.0, math.radians(_AZIMUTH_DEGREES))
    offset = _away() * math.cos(rise) * _DISTANCE
    for frame, y in (_LOOK_START, _LOOK_END):
        height = _LOOK_HEIGHT + math.sin(rise) * _DISTANCE
        camera.location = (offset[0], y + offset[1], height)
        camera.keyframe_insert("location", frame=frame)
    scene.camera = camera


def _set_render(scene: bpy.types.Scene, size: tuple[int, int]) -> None:
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGB"
    scene.render.image_settings.compression = 30
    scene.view_settings.view_transform = "Standard"
    scene.view_settings.look = "None"
    scene.display.render_aa = "FXAA"


def _set_shading(display: bpy.types.SceneDisplay) -> None:
    shading = display.shading
    shading.light = "STUDIO"
    shading.color_type = "TEXTURE"
    shading.show_shadows = True
    shading.shadow_intensity = 0.35
    display.light_direction = (-0.25, 0.95, 0.20)
    display.shadow_focus = 0.0
    shading.show_cavity = False
    shading.show_specular_highlight = True
    shading.show_object_outline = False


@contextmanager
def _own_lights() -> Iterator[None]:
    """Lights the frames with `_LIGHTS`; they live in the preferences, which are put back."""
    system = bpy.context.preferences.system
    before = (system.light_ambient[:], system.use_studio_light_edit)
    lights = [
        {key: _plain(getattr(light, key)) for key in _LIGHT_KEYS} for light in system.solid_lights
    ]
    system.light_ambient, system.use_studio_light_edit = _AMBIENT, True
    try:
        _set_lights([dict(zip(_LIGHT_KEYS, light, strict=True)) for light in _LIGHTS])
        yield
    finally:
        _set_lights(lights)
        system.light_ambient, system.use_studio_light_edit = before


def _plain(value: object) -> object:
    return tuple(value) if hasattr(value, "__len__") else value


def _set_lights(lights: list[dict]) -> None:
    for light, values in zip(bpy.context.preferences.system.solid_lights, lights, strict=True):
        for key, value in values.items():
            setattr(light, key, value)


@contextmanager
def softrig_switched(skin: bpy.types.Object, on: bool) -> Iterator[None]:
    """Switches the skin's Softrig modifiers on or off for a while."""
    found = [m for m in skin.modifiers if m.name.startswith(MODIFIER_PREFIX)]
    before = [(m.show_render, m.show_viewport) for m in found]
    for modifier in found:
        modifier.show_render = modifier.show_viewport = on
    try:
        yield
    finally:
        for modifier, (render, viewport) in zip(found, before, strict=True):
            modifier.show_render, modifier.show_viewport = render, viewport


def _picture_state(scene: bpy.types.Scene) -> tuple[bytes, ...]:
    """Everything in the picture that can move: equal states give equal pictures."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    state = [np.array(scene.camera.evaluated_get(depsgraph).matrix_world).tobytes()]
    for obj in scene.objects:
        if obj.type != "MESH" or not obj.modifiers or obj.hide_render:
            continue
        mesh = obj.evaluated_get(depsgraph).data
        flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", flat)
        state.append(flat.tobytes())
    return tuple(state)


def render_frames(
    scene: bpy.types.Scene,
    folder: Path,
    frames: Iterable[int],
    progress: Callable[[int], None] | None = None,
) -> dict[str, float]:
    """Writes `0001.png`, ... into the folder; a frame in which nothing moved is copied.

    Gives how many were drawn, how many copied, and the seconds of a drawn one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    start, drawn, copied, last = time.perf_counter(), 0, 0, (None, None)
    with _own_lights():
        for frame in frames:
            scene.frame_set(frame)
            state, path = _picture_state(scene), folder / f"{frame:04d}.png"
            if state == last[0]:
                shutil.copyfile(last[1], path)
                copied += 1
            else:
                scene.render.filepath = str(path)
                bpy.ops.render.render(write_still=True, scene=scene.name)
                drawn += 1
            last = (state, path)
            if progress:
                progress(frame)
    seconds = (time.perf_counter() - start) / max(drawn, 1)
    return {"drawn": drawn, "copied": copied, "seconds_each": seconds}


def _frame_range(text: str) -> list[int]:
    frames = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        frames.extend(range(int(first), int(last or first) + 1))
    return frames


def _main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Render the sample character.")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--frames", type=_frame_range, default=_frame_range("1-96"))
    parser.add_argument("--without", action="store_true", help="switch Softrig off")
    parser.add_argument("--size", default=DEFAULT_SIZE)
    options = parser.parse_args(arguments)
    scene = bpy.context.scene
    width, height = (int(n) for n in options.size.split("x"))
    if "Floor" not in scene.objects:
        set_stage(scene, (width, height))
    skin = next(obj for obj in scene.objects if obj.type == "MESH" and obj.vertex_groups)
    with softrig_switched(skin, not options.without):
        told = render_frames(scene, options.output.resolve(), options.frames)
    print("{drawn} frames drawn, {copied} copied, {seconds_each:.3f} s each".format(**told))


if __name__ == "__main__":
    _main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
