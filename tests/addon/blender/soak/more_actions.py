# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist may do with followers, takes, shape keys, time, forces and buttons that mend."""

from typing import Any

import bpy
from support import addon, scenes

from .actions import action, look, succeeds
from .world import MOST_RIDERS, World

# ---- what rides along ----------------------------------------------------------------------------


@action
def follow(world: World) -> bool:
    """A new cloth, deformed as its character is or not at all; an old one makes room."""
    leader = world.pick(world.characters())
    if leader is None:
        return False
    for ob in world.riders()[MOST_RIDERS - 1 :]:
        bpy.data.objects.remove(ob)
    cloth = scenes.make_skin(world.new_name("Cloth"), 8)
    armature = next((m.object for m in leader.modifiers if m.type == "ARMATURE"), None)
    if armature is not None and world.chance.random() < 0.5:
        scenes.weigh(cloth)
        cloth.parent = armature
        cloth.modifiers.new("Armature", "ARMATURE").object = armature
    cloth.softrig.rigid = world.chance.random() < 0.3
    scenes.make_active(leader)
    cloth.select_set(True)
    if succeeds(bpy.ops.softrig.follow):
        return True
    bpy.data.objects.remove(cloth)
    return False


@action
def stop_following(world: World) -> bool:
    """What was picked becomes a mesh like any other, and goes."""
    ob = world.pick(world.riders())
    if ob is None or not succeeds(bpy.ops.softrig.unfollow, follower=ob.name):
        return False
    bpy.data.objects.remove(ob)
    return True


@action
def change_a_follower(world: World) -> bool:
    """Moved, edited, made rigid, deleted; one that is new where there is none."""
    if not world.riders() and not follow(world):
        return False
    ob = world.pick(world.riders())
    what = world.pick(["move", "edit", "rigid", "rename", "delete"])
    if what == "move":
        ob.location.x += world.chance.uniform(-0.1, 0.1)
    elif what == "edit":
        ob.data.vertices[0].co.x += world.chance.uniform(-0.1, 0.1)
        ob.data.update()
    elif what == "rigid":
        ob.softrig.rigid = not ob.softrig.rigid
    elif what == "rename":
        ob.name = world.new_name("Cloth")
    else:
        bpy.data.objects.remove(ob)
    return True


# ---- takes and other bakes -----------------------------------------------------------------------


def _takes() -> Any:
    return addon.module("blender.takes")


@action
def bake_take(world: World) -> bool:
    """One more beside those that there are, or a part of the range."""
    if world.choose() is None:
        return False
    return succeeds(bpy.ops.softrig.bake_take, take=world.pick(["", "Other", "Third"]))


@action
def bake_some_frames(world: World) -> bool:
    scene = bpy.context.scene
    frames = f"{scene.frame_start}-{world.chance.randint(scene.frame_start, scene.frame_end)}"
    return world.choose(baked=False) is not None and succeeds(bpy.ops.softrig.bake, frames=frames)


@action
def show_take(world: World) -> bool:
    ob = world.choose(baked=True)
    if ob is None:
        return False
    take = _takes().take_of(world.pick(_takes().bakes_of(ob)))
    return succeeds(bpy.ops.softrig.show_take, take=take)


@action
def mix_take(world: World) -> bool:
    """Everywhere or by a vertex group, with a key on the influence."""
    ob = world.choose(baked=True)
    if ob is None:
        return False
    modifier = world.pick(_takes().bakes_of(ob))
    group = world.pick(["", *(group.name for group in ob.vertex_groups)])
    options = {"take": _takes().take_of(modifier), "vertex_group": group}
    if not succeeds(bpy.ops.softrig.mix_take, influence=world.chance.random(), **options):
        return False
    modifier = _takes().find(ob, options["take"])
    return modifier.keyframe_insert("factor", frame=world.frame())


@action
def remove_take(world: World) -> bool:
    ob = world.choose(baked=True)
    if ob is None:
        return False
    take = _takes().take_of(world.pick(_takes().bakes_of(ob)))
    return succeeds(bpy.ops.softrig.remove_take, take=take)


@action
def bake_all_and_free_all(world: World) -> bool:
    succeeds(bpy.ops.softrig.bake_all)
    look(world)
    return succeeds(bpy.ops.softrig.free_all)


@action
def bake_keys_and_free(world: World) -> bool:
    """Into shape keys; played; and away again."""
    if world.choose(baked=False) is None:
        return False
    kind = world.pick(["RELATIVE", "ABSOLUTE"])
    if not succeeds(bpy.ops.softrig.bake_keys, kind=kind):
        return False
    look(world)
    return succeeds(bpy.ops.softrig.free_keys)


# ---- time and forces -----------------------------------------------------------------------------


@action
def change_time(world: World) -> bool:
    """Pre-roll, a start of its own, a loop."""
    ob = world.choose()
    if ob is None:
        return False
    settings = ob.softrig
    settings.pre_roll_mode = world.pick(["NONE", "NONE", "SETTLE", "RUN_IN"])
    settings.pre_roll = world.chance.randint(1, 12)
    settings.use_start_frame = world.chance.random() < 0.3
    settings.start_frame = world.chance.randint(-2, 20)
    settings.loop = world.pick(["NONE", "NONE", "NONE", "LAST_IS_FIRST"])
    return True


@action
def key_a_dial(world: World) -> bool:
    ob = world.choose()
    if ob is None:
        return False
    dials = {
        "gravity_factor": world.chance.uniform(-1.0, 2.0),
        "wind_speed": world.chance.uniform(0.0, 20.0),
        "wind_gusts": world.chance.random(),
        "travel_felt": world.chance.random(),
        "pressure": world.chance.uniform(-0.5, 1.0),
        "cut": world.chance.random() < 0.5,
    }
    name = world.pick(sorted(dials))
    setattr(ob.softrig, name, dials[name])
    if world.chance.random() < 0.5:
        return ob.keyframe_insert(f"softrig.{name}", frame=world.frame())
    return True


@action
def mark_a_cut(world: World) -> bool:
    bpy.context.scene.frame_set(world.frame())
    return succeeds(bpy.ops.softrig.cut_marker)


@action
def turn_the_scenes_gravity(world: World) -> bool:
    scene = bpy.context.scene
    scene.use_gravity = world.chance.random() < 0.7
    scene.gravity = (0.0, world.chance.uniform(-5.0, 5.0), -9.81)
    return True


@action
def choose_a_solver(world: World) -> bool:
    ob = world.choose()
    if ob is None:
        return False
    items = ob.softrig.bl_rna.properties["solver"].enum_items
    ob.softrig.solver = world.pick([item.identifier for item in items])
    return True


# ---- buttons -------------------------------------------------------------------------------------


@action
def apply_tissue(world: World) -> bool:
    tissues = addon.module("model.presets").TISSUES
    tissue = world.pick([tissue.key for tissue in tissues])
    return world.choose() is not None and succeeds(bpy.ops.softrig.apply_tissue, tissue=tissue)


@action
def copy_settings(world: World) -> bool:
    """To another character that is selected too."""
    found = world.characters()
    if len(found) < 2:
        return False
    world.choose()
    for ob in found:
        ob.select_set(True)
    return succeeds(bpy.ops.softrig.copy_settings)


@action
def fix_a_trap(world: World) -> bool:
    """The one that is there, or one that the artist steps into first."""
    ob = world.choose()
    if ob is None:
        return False
    carrier = addon.module("blender.carrier")
    carrier.find_modifier(ob).show_render = False
    look(world)
    findings = addon.module("blender.examine")
    findings.examine(addon.session(), ob, bpy.context.scene)
    keys = [finding.key for finding in addon.session().findings[ob.softrig.uuid]]
    if "OFF_IN_RENDER" not in keys:
        return False
    return succeeds(bpy.ops.softrig.fix, trap="OFF_IN_RENDER")
