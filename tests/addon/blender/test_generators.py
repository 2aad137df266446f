# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirror, Subdivision and the like before us: what they make swings as a mesh of the artist's."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, measure, scenes

ARM, END = 2.0, 4.0
"""Along x: where an arm begins and ends."""
RENDERED = range(1, 13)
HALF_BONES = ("root", "arm.L", "arm.R")


def move(skin: Any, name: str, index: int) -> None:
    addon.module("blender.compat").move_modifier(skin, skin.modifiers[name], index)


def add_first(skin: Any, name: str, kind: str, index: int = 0) -> Any:
    skin.modifiers.new(name, kind)
    move(skin, name, index)
    return skin.modifiers[name]


def add_subdivision(skin: Any, index: int = 0, levels: int = 1) -> Any:
    modifier = add_first(skin, "Subdivision", "SUBSURF", index)
    modifier.levels = modifier.render_levels = levels
    return modifier


def make_half() -> tuple[Any, Any]:
    """The half at +x of a block along x, weighed to the left arm; each arm moves by itself."""
    armature = scenes.link(bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig")))
    scenes.make_active(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head, tail in zip(HALF_BONES, (0.0, ARM, -ARM), (0.0, END, -END), strict=True):
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = (head, 0, 0), (tail, 0, 0.5 if name == "root" else 0.0)
        bone.parent = armature.data.edit_bones["root"] if name != "root" else None
    bpy.ops.object.mode_set(mode="OBJECT")
    skin = scenes.link(bpy.data.objects.new("Half", make_half_block()))
    skin.parent = armature
    for name in HALF_BONES:
        skin.vertex_groups.new(name=name)
    for vertex in skin.data.vertices:
        arm = min(max(vertex.co.x - ARM + 0.5, 0.0), 1.0)
        skin.vertex_groups["root"].add([vertex.index], 1.0 - arm, "REPLACE")
        skin.vertex_groups["arm.L"].add([vertex.index], arm, "REPLACE")
    mirror = skin.modifiers.new("Mirror", "MIRROR")
    assert mirror.use_mirror_vertex_groups and mirror.use_mirror_merge
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    swing(armature, "arm.L", 1.2, 8)
    swing(armature, "arm.R", -0.7, 16)
    skin.softrig.complement = "NOTHING"  # what one bone moves swings whole
    bpy.context.scene.frame_set(1)
    scenes.make_active(skin)
    return skin, armature


def make_half_block() -> Any:
    """A tube of squares, open at x = 0."""
    rings = [
        [(0.125 * END * ring, y, z) for y, z in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        for ring in range(9)
    ]
    faces = [
        (4 * r + a, 4 * r + 4 + a, 4 * r + 4 + (a + 1) % 4, 4 * r + (a + 1) % 4)
        for r in range(8)
        for a in range(4)
    ]
    mesh = bpy.data.meshes.new("Half")
    mesh.from_pydata([place for ring in rings for place in ring], [], [*faces, (32, 33, 34, 35)])
    return mesh


def swing(armature: Any, name: str, angle: float, stop: int) -> None:
    """From rest to another pose within a few frames."""
    bone = armature.pose.bones[name]
    bone.rotation_mode = "XYZ"
    for frame, turn in ((1, 0.0), (stop - 5, 0.0), (stop, angle)):
        bone.rotation_euler = (0.0, 0.0, turn)
        bone.keyframe_insert("rotation_euler", frame=frame)


def live_frames(skin: Any) -> dict[int, np.ndarray]:
    return {frame: measure.at_frame(skin, frame) for frame in (1, 9, 12, 17, 23, 40)}


def assert_moves(skin: Any, frame: int = scenes.STOP_FRAME + 2) -> None:
    assert measure.largest(measure.at_frame(skin, frame), measure.without_us(skin)) > 1e-3


def assert_bake_is_live(skin: Any) -> None:
    live = live_frames(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    for frame, expected in live.items():
        assert measure.same_bits(measure.at_frame(skin, frame), expected), frame


def tick_until_live(skin: Any, scene: Any) -> None:
    addon.module("blender.watch").ensure_scene(addon.session(), scene)
    assert addon.entry_of(skin).state.phase.name == "LIVE"


def test_each_mirrored_half_follows_its_own_bone(scene: Any) -> None:
    skin, _ = make_half()
    scenes.add_softrig(skin)
    assert [m.name for m in skin.modifiers] == ["Mirror", "Armature", "Softrig"]
    entry = addon.entry_of(skin)
    assert entry.skin_points == 0, "bones tell all"
    rest = entry.rest.reshape(-1, 3)
    assert len(rest) == 2 * 36 - 4
    assert rest[:, 0].min() == -END and rest[:, 0].max() == END
    left, right = rest[:, 0] > ARM, rest[:, 0] < -ARM
    peaks = np.zeros((scenes.LAST_FRAME + 1, 2))
    for frame in range(1, scenes.LAST_FRAME + 1):
        offsets = measure.at_frame(skin, frame) - measure.without_us(skin)
        sizes = np.linalg.norm(offsets.reshape(-1, 3), axis=1)
        peaks[frame] = sizes[left].max(), sizes[right].max()
    first, second = peaks[:11].max(axis=0), peaks[11:].max(axis=0)
    assert first[0] > 10.0 * first[1], "the left arm alone has moved so far"
    assert second[1] > 10.0 * first[1], "now the right one has"
    assert_bake_is_live(skin)


@pytest.mark.parametrize("merged", [True, False])
def test_the_seam_stays_closed(scene: Any, merged: bool) -> None:
    skin, _ = make_half()
    skin.modifiers["Mirror"].use_mirror_merge = merged
    skin.data.update()
    scenes.add_softrig(skin)
    entry = addon.entry_of(skin)
    rest = entry.rest.reshape(-1, 3)
    seam = np.flatnonzero(rest[:, 0] == 0.0)
    assert len(seam) == (4 if merged else 8)
    pairs = [(a, b) for a in seam for b in seam if a < b and (rest[a] == rest[b]).all()]
    assert len(pairs) == (0 if merged else 4)
    for frame in (6, 10, 14, 18, 30):
        shown = measure.at_frame(skin, frame).reshape(-1, 3)
        assert all(np.abs(shown[a] - shown[b]).max() < 1e-6 for a, b in pairs), frame


def test_subdivision_before_the_armature(scene: Any) -> None:
    skin, _ = scenes.make_character()
    add_subdivision(skin)
    scenes.add_softrig(skin)
    assert [m.name for m in skin.modifiers] == ["Subdivision", "Armature", "Softrig"]
    entry = addon.entry_of(skin)
    assert len(entry.rest) == len(measure.evaluated(skin)) > 3 * len(skin.data.vertices)
    assert entry.skin_points == 0 and not entry.blocked
    assert_moves(skin)
    assert_bake_is_live(skin)


def test_weights_are_those_that_blender_mixes_and_mirrors(scene: Any) -> None:
    """Linear blending with what was read gives Blender's pose, on both sides."""
    skin, _ = make_half()
    add_subdivision(skin, 1)
    scenes.add_softrig(skin)
    entry = addon.entry_of(skin)
    shape = addon.module("blender.gather").read_shape(addon.session(), skin)
    assert shape.fingerprint() == entry.fingerprint and skin.matrix_world.is_identity
    counts = np.diff(shape.weights.starts)
    owners = np.repeat(np.arange(len(counts)), counts)
    totals = np.bincount(owners, shape.weights.values)
    rests = np.array([bone.rest for bone in shape.bones]).reshape(-1, 4, 4).transpose(0, 2, 1)
    points = np.column_stack([shape.positions.reshape(-1, 3), np.ones(len(counts))])
    for frame in (8, 16):
        scene.frame_set(frame)
        poses = entry.rows[frame - 1, 32:].reshape(-1, 4, 4).transpose(0, 2, 1)
        moves = (poses @ np.linalg.inv(rests))[shape.weights.bones]
        moved = np.einsum("eij,ej->ei", moves, points[owners])[:, :3]
        posed = np.zeros((len(counts), 3))
        np.add.at(posed, owners, moved * shape.weights.values[:, None])
        posed /= totals[:, None]
        assert np.abs(posed.reshape(-1) - measure.without_us(skin)).max() < 1e-5, frame


def test_mirror_and_subdivision(scene: Any) -> None:
    skin, _ = make_half()
    add_subdivision(skin, 1)
    scenes.add_softrig(skin)
    assert [m.name for m in skin.modifiers] == ["Mirror", "Subdivision", "Armature", "Softrig"]
    assert_moves(skin, 10)
    assert_bake_is_live(skin)


def test_subdivision_between_the_armature_and_us_is_recorded_as_points(
    scene: Any,
) -> None:
    skin, _ = scenes.make_character()
    scenes.add_softrig(skin)
    assert_moves(skin, 23)
    add_subdivision(skin, 1)
    assert [m.name for m in skin.modifiers] == ["Armature", "Subdivision", "Softrig"]
    assert addon.module("blender.carrier").find_problem(skin)
    assert measure.same_bits(measure.evaluated(skin), measure.without_us(skin)), "plain at first"
    tick_until_live(skin, scene)
    entry = addon.entry_of(skin)
    assert entry.skin_points == len(entry.rest) // 3 == len(measure.evaluated(skin)) // 3
    assert not addon.module("blender.carrier").find_problem(skin)
    assert_moves(skin)
    assert_bake_is_live(skin)


def test_a_mirror_that_hangs_on_an_object_is_recorded_by_points(scene: Any) -> None:
    """The object moves, and the other half with it: no bone could tell."""
    skin, _ = make_half()
    mirror = next(m for m in skin.modifiers if m.type == "MIRROR")
    mirror.mirror_object = scenes.link(bpy.data.objects.new("Axis", None))
    mirror.use_mirror_merge = False
    for frame, place in ((1, -1.0), (12, -1.0), (scenes.STOP_FRAME, -2.0)):
        mirror.mirror_object.location.x = place
        mirror.mirror_object.keyframe_insert("location", index=0, frame=frame)
    scene.frame_set(1)
    scenes.add_softrig(skin)
    assert addon.entry_of(skin).skin_points == 72
    both = measure.at_frame(skin, scenes.STOP_FRAME + 1) - measure.without_us(skin)
    sizes = np.linalg.norm(both.reshape(-1, 3), axis=1)
    assert sizes[36:].max() > 1e-3, "the mirrored half does not feel its object stop"
    assert_bake_is_live(skin)


@pytest.mark.parametrize(
    "kind", ["ARRAY", "BEVEL", "EDGE_SPLIT", "SOLIDIFY", "TRIANGULATE", "WELD"]
)
def test_others_that_make_vertices_before_the_armature(scene: Any, kind: str) -> None:
    skin, _ = scenes.make_character()
    modifier = add_first(skin, "Before", kind)
    if kind == "ARRAY":
        modifier.relative_offset_displace = (0.0, 1.5, 0.0)
    scenes.add_softrig(skin)
    assert [m.name for m in skin.modifiers] == ["Before", "Armature", "Softrig"]
    assert_moves(skin)
    assert_bake_is_live(skin)


@pytest.mark.parametrize("amount", [0.0, 1.0])
def test_without_offsets_blenders_result_stays_to_the_bit(scene: Any, amount: float) -> None:
    skin, armature = make_half()
    add_subdivision(skin, 1)
    if amount:
        armature.animation_data_clear()
        skin.softrig.gravity_factor = 0.0
    scenes.add_softrig(skin)
    compat, graph = addon.module("blender.compat"), addon.module("blender.graph")
    compat.set_input(skin.modifiers["Softrig"], graph.AMOUNT, amount)
    for frame in (1, 9, 20):
        assert measure.same_bits(measure.at_frame(skin, frame), measure.without_us(skin)), frame


def examined(skin: Any, scene: Any) -> list[str]:
    addon.module("blender.examine").examine(addon.session(), skin, scene)
    return [finding.key for finding in addon.session().findings[skin.softrig.uuid]]


def uneven_levels(modifier: Any, scene: Any) -> None:
    modifier.render_levels = 2


def simplified(modifier: Any, scene: Any) -> None:
    scene.render.use_simplify, scene.render.simplify_subdivision_render = True, 0


def off_in_render(modifier: Any, scene: Any) -> None:
    modifier.show_render = False


@pytest.mark.parametrize("spoil", [uneven_levels, simplified, off_in_render])
def test_what_renders_otherwise_is_told_before_and_mended(scene: Any, spoil: Any) -> None:
    skin, _ = scenes.make_character()
    modifier = add_subdivision(skin)
    scenes.add_softrig(skin)
    assert examined(skin, scene) == []
    expected = measure.at_frame(skin, 24)
    spoil(modifier, scene)
    assert "UNEVEN" in examined(skin, scene)
    scene.frame_set(24)
    assert measure.same_bits(measure.evaluated(skin), measure.without_us(skin))
    (problem,) = addon.module("blender.rendering").find_problems(addon.session(), scene)
    assert '"Subdivision"' in problem and "renders" in problem
    with pytest.raises(RuntimeError, match="in renders than in"):
        bpy.ops.softrig.bake()
    bpy.ops.softrig.fix(trap="UNEVEN")
    tick_until_live(skin, scene)
    assert examined(skin, scene) == []
    assert not addon.module("blender.rendering").make_ready(addon.session(), scene)
    if spoil is uneven_levels:
        assert measure.same_bits(measure.at_frame(skin, 24), expected)
    assert_moves(skin)


def test_animated_settings_are_refused(scene: Any) -> None:
    skin, _ = scenes.make_character()
    add_subdivision(skin).keyframe_insert("levels", frame=1)
    scenes.add_softrig(skin)
    assert examined(skin, scene) == ["KEYED"]
    assert measure.same_bits(measure.at_frame(skin, 24), measure.without_us(skin))


def test_changed_settings_are_noticed_live(scene: Any) -> None:
    skin, _ = make_half()
    scenes.add_softrig(skin)
    before = len(addon.entry_of(skin).rest)
    skin.modifiers["Mirror"].use_mirror_merge = False
    scene.frame_set(10)
    assert addon.entry_of(skin).blocked or len(addon.entry_of(skin).rest) != before
    tick_until_live(skin, scene)
    assert len(addon.entry_of(skin).rest) == before + 12
    assert examined(skin, scene) == []
    assert_moves(skin, 10)
    skin.modifiers["Mirror"].show_viewport = skin.modifiers["Mirror"].show_render = False
    tick_until_live(skin, scene)
    assert len(addon.entry_of(skin).rest) == 3 * len(skin.data.vertices)
    assert_moves(skin, 10)


def test_changed_settings_under_a_bake_are_noticed(scene: Any) -> None:
    skin, _ = make_half()
    scenes.add_softrig(skin)
    baked = live_frames(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    skin.modifiers["Mirror"].use_mirror_merge = False
    assert measure.same_bits(measure.at_frame(skin, 10), measure.without_us(skin)), "no wrong flesh"
    assert "STACK_CHANGED" in examined(skin, scene)
    (problem,) = addon.module("blender.rendering").make_ready(addon.session(), scene)
    assert "bake again" in problem
    skin.modifiers["Mirror"].use_mirror_merge = True
    assert not addon.module("blender.rendering").make_ready(addon.session(), scene)
    assert measure.same_bits(measure.at_frame(skin, 12), baked[12])
    skin.modifiers["Mirror"].use_mirror_merge = False
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert_moves(skin, 10)


def test_a_take_is_mixed_by_weights_that_were_mirrored(scene: Any) -> None:
    skin, _ = make_half()
    scenes.add_softrig(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    offsets = measure.at_frame(skin, 9) - measure.without_us(skin)
    bpy.ops.softrig.mix_take(vertex_group="arm.L", influence=1.0)
    mixed = (measure.at_frame(skin, 9) - measure.without_us(skin)).reshape(-1, 3)
    rest = addon.entry_of(skin).rest.reshape(-1, 3)
    left, right = rest[:, 0] > ARM, rest[:, 0] < -ARM
    assert np.abs(mixed[left] - offsets.reshape(-1, 3)[left]).max() < 1e-4
    assert not mixed[right].any() and mixed[left].any()


@pytest.mark.parametrize("baked", [True, False])
def test_a_render_sees_what_was_live(scene: Any, tmp_path: Path, baked: bool) -> None:
    skin, _ = make_half()
    add_subdivision(skin, 1)
    scene.frame_end = RENDERED[-1]
    scenes.add_softrig(skin)
    live = {frame: measure.at_frame(skin, frame) for frame in RENDERED}
    if baked:
        assert bpy.ops.softrig.bake() == {"FINISHED"}
    seen = render_and_look(scene, skin.name, tmp_path)
    for frame in RENDERED:
        assert measure.same_bits(seen[frame], live[frame]), frame
    assert_moves(skin, 8)


def render_and_look(scene: Any, name: str, folder: Path) -> dict[int, np.ndarray]:
    """Positions as the render's own evaluation has them."""
    seen: dict[int, np.ndarray] = {}

    def look(scene: Any, depsgraph: Any) -> None:
        if depsgraph.mode == "RENDER":
            seen[scene.frame_current] = measure.evaluated(bpy.data.objects[name], depsgraph)

    scene.camera = scenes.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.cycles.device, scene.cycles.use_denoising = "CPU", False
    scene.render.resolution_x = scene.render.resolution_y = 16
    scene.render.filepath = str(folder / "frame_")
    bpy.app.handlers.frame_change_post.append(look)
    try:
        bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.frame_change_post.remove(look)
    return seen


def test_removed_it_leaves_the_artists_stack(scene: Any) -> None:
    skin, _ = make_half()
    scenes.add_softrig(skin)
    bpy.ops.softrig.remove()
    assert [m.name for m in skin.modifiers] == ["Mirror", "Armature"]
    assert addon.session().api.byte_count() == 0
