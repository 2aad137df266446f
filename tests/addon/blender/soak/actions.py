# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist may do. Each action answers whether it could be done at this moment."""

from collections.abc import Callable
from typing import Any

import bmesh
import bpy
from support import addon, scenes

from .world import CAGE_NODES, MOST_SKINS, World, new_skin, to_object_mode

Action = Callable[[World], bool]
ACTIONS: dict[str, Action] = {}


def action(function: Action) -> Action:
    ACTIONS[function.__name__] = function
    return function


def succeeds(operator: Any, **options: Any) -> bool:
    """A refusal is an answer, not a failure: Blender throws it when a script presses the button."""
    try:
        return operator.poll() and operator(**options) == {"FINISHED"}
    except RuntimeError as error:
        if "Traceback" in str(error):
            raise
        return False


# ---- coming and going --------------------------------------------------------------------------


def sweep(world: World) -> None:
    """Bare meshes go, and armatures that move nobody."""
    for ob in world.bare():
        bpy.data.objects.remove(ob)
    used = {m.object for ob in world.skins() for m in ob.modifiers if m.type == "ARMATURE"}
    for ob in [ob for ob in world.armatures() if ob not in used and not ob.children]:
        bpy.data.objects.remove(ob)


@action
def add(world: World) -> bool:
    """On a mesh that is there, else on a new one; what is refused makes room."""
    bare = world.bare()
    if bare and world.chance.random() < 0.5:
        scenes.make_active(world.pick(bare))
        if succeeds(bpy.ops.softrig.add):
            return True
        bpy.data.objects.remove(bpy.context.object)
    if len(world.skins()) >= MOST_SKINS:
        if not bare:
            return False
        sweep(world)
    new_skin(world)
    return succeeds(bpy.ops.softrig.add)


@action
def remove(world: World) -> bool:
    return world.choose() is not None and succeeds(bpy.ops.softrig.remove)


@action
def delete_skin(world: World) -> bool:
    ob = world.pick(world.skins())
    if ob is None:
        return False
    bpy.data.objects.remove(ob)
    return True


@action
def delete_skin_by_operator(world: World) -> bool:
    return world.choose() is not None and succeeds(bpy.ops.object.delete)


@action
def duplicate(world: World) -> bool:
    """With its own mesh or sharing one."""
    if len(world.skins()) >= MOST_SKINS:
        sweep(world)
    if len(world.skins()) >= MOST_SKINS or world.choose() is None:
        return False
    return succeeds(bpy.ops.object.duplicate, linked=world.chance.random() < 0.5)


@action
def rename(world: World) -> bool:
    ob = world.pick(world.skins() + world.armatures())
    if ob is None:
        return False
    ob.name = world.new_name("Renamed")
    return True


@action
def swap_names(world: World) -> bool:
    """The name of one becomes that of another."""
    found = world.characters()
    if len(found) < 2:
        return False
    one, other = world.chance.sample(found, 2)
    first, second = one.name, other.name
    one.name, other.name, one.name = "Between", first, second
    return True


@action
def delete_carrier(world: World) -> bool:
    """By a purge or a script; the artist then presses what the panel says."""
    ob = world.choose()
    holder = addon.module("blender.carrier").find_carrier(ob) if ob is not None else None
    if holder is None:
        return False
    bpy.data.objects.remove(holder)
    look(world)
    return succeeds(bpy.ops.softrig.prepare)


@action
def delete_modifier(world: World) -> bool:
    ob = world.choose()
    modifier = addon.module("blender.carrier").find_modifier(ob) if ob is not None else None
    if modifier is None:
        return False
    ob.modifiers.remove(modifier)
    return True


@action
def delete_armature(world: World) -> bool:
    """Only of a crowd, which may have to come: the character stays, with nothing that moves it."""
    if len(world.armatures()) < 2:
        if len(world.skins()) >= MOST_SKINS:
            bpy.data.objects.remove(world.pick(world.skins()))
        if not add(world) or len(world.armatures()) < 2:
            return False
    bpy.data.objects.remove(world.pick(world.armatures()))
    return True


# ---- time --------------------------------------------------------------------------------------


def look(world: World) -> None:
    """Long enough for the add-on's timer, where there is one."""
    bpy.context.view_layer.update()
    if not bpy.app.background:
        addon.module("handlers.timer").turn()
    bpy.context.scene.frame_set(world.frame())


@action
def scrub(world: World) -> bool:
    for _ in range(3):
        bpy.context.scene.frame_set(world.frame(), subframe=world.pick([0.0, 0.25, 0.5]))
    return True


@action
def play(world: World) -> bool:
    """Some frames in a row, with some dropped."""
    frame = world.frame()
    for _ in range(6):
        bpy.context.scene.frame_set(frame)
        frame += world.chance.randint(1, 3)
    return True


@action
def change_range(world: World) -> bool:
    scene = bpy.context.scene
    scene.frame_start = world.chance.randint(-3, 5)
    scene.frame_end = world.chance.randint(25, 45)
    return True


@action
def change_rate(world: World) -> bool:
    render = bpy.context.scene.render
    render.fps, render.fps_base = world.pick([24, 25, 30]), world.pick([1.0, 1.001])
    return True


@action
def remap_time(world: World) -> bool:
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, world.pick([100, 100, 50, 200])
    return True


@action
def use_other_scene(world: World) -> bool:
    """A second scene with the same character comes, is played, and goes."""
    ob = world.choose()
    if ob is None:
        return False
    other = bpy.data.scenes.new(world.new_name("Scene"))
    for linked in (ob, *(m.object for m in ob.modifiers if m.type == "ARMATURE" and m.object)):
        if linked.name not in other.collection.objects:
            other.collection.objects.link(linked)
    other.frame_end = world.pick([30, 40])
    for _ in range(2):
        other.frame_set(world.chance.randint(1, 30))
    bpy.data.scenes.remove(other)
    return True


# ---- motion ------------------------------------------------------------------------------------


@action
def key_the_rig(world: World) -> bool:
    ob = world.pick(world.armatures())
    if ob is None:
        return False
    ob.location.x = world.chance.uniform(-3.0, 3.0)
    ob.keyframe_insert("location", frame=world.frame())
    return True


@action
def key_a_bone(world: World) -> bool:
    ob = world.pick(world.armatures())
    if ob is None:
        return False
    bone = world.pick(list(ob.pose.bones))
    bone.rotation_mode = "XYZ"
    bone.rotation_euler.x = world.chance.uniform(-0.6, 0.6)
    bone.keyframe_insert("rotation_euler", frame=world.frame())
    return True


@action
def scale_the_rig(world: World) -> bool:
    """Unevenly and mirrored too."""
    ob = world.pick(world.armatures())
    if ob is None:
        return False
    ob.scale = [world.pick([1.0, 1.0, 0.5, 2.0, -1.0]) for _ in range(3)]
    return True


@action
def rename_bone(world: World) -> bool:
    """Blender renames the vertex groups along."""
    ob = world.pick(world.armatures())
    if ob is None:
        return False
    bone = world.pick(list(ob.data.bones))
    bone.name = world.new_name(bone.name.split(" ")[0])
    return True


@action
def switch_armature(world: World) -> bool:
    """The eye of the modifier, which nobody switches back."""
    ob = world.choose()
    modifier = next((m for m in ob.modifiers if m.type == "ARMATURE"), None) if ob else None
    if modifier is None:
        return False
    modifier.show_viewport = modifier.show_render = not modifier.show_viewport
    return True


# ---- mesh, weights, stack ----------------------------------------------------------------------


@action
def edit_mesh(world: World) -> bool:
    """New topology: some faces go, or all are cut in two."""
    ob = world.choose()
    if ob is None or len(ob.data.vertices) > 2000 or len(ob.data.polygons) < 60:
        return False
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(ob.data)
    if world.chance.random() < 0.3 and len(mesh.verts) < 600:
        bmesh.ops.subdivide_edges(mesh, edges=mesh.edges[:40], cuts=1)
    else:
        mesh.faces.ensure_lookup_table()
        chosen = world.chance.sample(range(len(mesh.faces)), 2)
        bmesh.ops.delete(mesh, geom=[mesh.faces[i] for i in chosen], context="FACES_ONLY")
    bmesh.update_edit_mesh(ob.data)
    look(world)
    to_object_mode()
    return True


@action
def move_vertices(world: World) -> bool:
    ob = world.choose()
    if ob is None:
        return False
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(ob.data)
    for vertex in mesh.verts:
        vertex.co.x *= world.chance.uniform(0.98, 1.02)
    bmesh.update_edit_mesh(ob.data)
    look(world)
    to_object_mode()
    return True


@action
def stay_in_edit_mode(world: World) -> bool:
    """And play meanwhile."""
    if world.choose() is None:
        return False
    bpy.ops.object.mode_set(mode="EDIT")
    for _ in range(3):
        look(world)
    return True


@action
def paint_weights(world: World) -> bool:
    ob = world.choose()
    if ob is None or not ob.vertex_groups:
        return False
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    look(world)
    group, count = world.pick(list(ob.vertex_groups)), len(ob.data.vertices)
    group.add(world.chance.sample(range(count), min(20, count)), 0.5, "REPLACE")
    to_object_mode()
    return True


@action
def choose_map(world: World) -> bool:
    ob = world.choose()
    if ob is None:
        return False
    if "Painted" not in ob.vertex_groups:
        count = len(ob.data.vertices)
        ob.vertex_groups.new(name="Painted").add(list(range(0, count, 3)), 0.7, "REPLACE")
    kind = world.pick(["stiffness", "mass", "damping", "hold", "pin", "detail"])
    setattr(ob.softrig, f"map_{kind}", world.pick(["Painted", ""]))
    return True


@action
def change_stack(world: World) -> bool:
    """Something that makes vertices comes, before us or behind, or goes."""
    ob = world.choose()
    if ob is None:
        return False
    other = ob.modifiers.get("Generator")
    if other is not None:
        ob.modifiers.remove(other)
        return True
    kinds = ["TRIANGULATE", "MIRROR"]
    if len(ob.data.vertices) < 600:
        kinds.append("SUBSURF")
    ob.modifiers.new("Generator", world.pick(kinds))
    place = world.chance.randrange(len(ob.modifiers))
    addon.module("blender.compat").move_modifier(ob, ob.modifiers["Generator"], place)
    return True


@action
def switch_softrig(world: World) -> bool:
    """Eye icon and Amount."""
    ob = world.choose()
    if ob is None:
        return False
    modifier = addon.module("blender.carrier").find_modifier(ob)
    modifier.show_viewport = not modifier.show_viewport
    addon.module("blender.compat").set_input(modifier, "Amount", world.pick([0.0, 0.5, 1.0]))
    return True


# ---- dials and buttons -------------------------------------------------------------------------


@action
def turn_a_dial(world: World) -> bool:
    ob = world.choose()
    if ob is None:
        return False
    dials = {
        "softness": world.chance.random(),
        "settle_frames": world.chance.uniform(2.0, 60.0),
        "volume": world.chance.uniform(0.0, 0.5),
        "pose_correction": world.chance.random(),
        "substeps": world.chance.randint(1, 12),
        "density": world.chance.uniform(500.0, 2000.0),
        "fibre_stiffness": world.chance.uniform(0.2, 5.0),
        "stretch_limit": world.pick([0.0, 1.0, 1.2]),
        "swings": world.pick(["FADE", "LAST", "KEEP"]),
        "material": world.pick(["RIGID", "COROTATED", "NEO_HOOKEAN", "ST_VENANT"]),
        "complement": world.pick(["AUTOMATIC", "BONES", "MOTION", "NOTHING"]),
    }
    name = world.pick(sorted(dials))
    setattr(ob.softrig, name, dials[name])
    return True


@action
def ask_for_another_cage(world: World) -> bool:
    ob = world.choose()
    if ob is None:
        return False
    ob.softrig.cage_nodes = CAGE_NODES + world.chance.randint(-40, 40)
    ob.softrig.loose_parts = world.pick(["tail", "ear, tail", ""])
    return True


@action
def prepare_again(world: World) -> bool:
    return world.choose() is not None and succeeds(bpy.ops.softrig.prepare)


@action
def record_again(world: World) -> bool:
    return world.choose() is not None and succeeds(bpy.ops.softrig.record)


@action
def bake(world: World) -> bool:
    return world.choose(baked=False) is not None and succeeds(bpy.ops.softrig.bake)


@action
def free_bake(world: World) -> bool:
    """Of one that plays, else of a new one."""
    if world.choose(baked=True) is None and not bake(world):
        return False
    look(world)
    return succeeds(bpy.ops.softrig.free_bake)


# ---- files, renders, the add-on itself ---------------------------------------------------------


@action
def save(world: World) -> bool:
    return succeeds(bpy.ops.wm.save_as_mainfile, filepath=str(world.folder / "soak.blend"))


@action
def save_and_load(world: World) -> bool:
    """The worker may be busy with what goes."""
    ob = world.choose()
    if ob is not None:
        ob.softrig.settle_frames += 1.0
    return save(world) and succeeds(
        bpy.ops.wm.open_mainfile, filepath=str(world.folder / "soak.blend")
    )


@action
def append(world: World) -> bool:
    """A character of a saved file comes into this one, under another name."""
    ob = world.choose()
    if ob is None or len(world.skins()) >= MOST_SKINS:
        return False
    path, name = str(world.folder / "append.blend"), ob.name
    bpy.data.libraries.write(path, {ob}, fake_user=True)
    with bpy.data.libraries.load(path) as (_, target):
        target.objects = [name]
    bpy.context.scene.collection.objects.link(target.objects[0])
    return True


@action
def render(world: World) -> bool:
    scene = bpy.context.scene
    if scene.camera is None:
        scene.camera = scenes.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.cycles.use_denoising = False
    scene.render.resolution_x = scene.render.resolution_y = 8
    handlers, refused = addon.module("handlers.render"), []
    # in background a render that would be wrong ends Blender before its first frame
    leave, handlers.leave = handlers.leave, lambda problems, _: refused.extend(problems)
    try:
        return succeeds(bpy.ops.render.render) and not refused
    finally:
        handlers.leave = leave


@action
def export(world: World) -> bool:
    path = str(world.folder / "soak.rig")
    return world.choose() is not None and succeeds(bpy.ops.softrig.export_rig, filepath=path)


@action
def switch_the_addon(world: World) -> bool:
    addon.disable()
    bpy.context.scene.frame_set(world.frame())
    addon.enable()
    return True
