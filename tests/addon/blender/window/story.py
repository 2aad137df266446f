# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist does in the window; each `yield` lets Blender live for so many seconds."""

import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import driver
from support import addon, measure, scenes
from weighing import weigh_with_progress


def skin() -> Any:
    """Looked up again each time: undo leaves no reference alive."""
    return bpy.data.objects["Skin"]


def entry() -> Any:
    return addon.session().entries.get(skin().softrig.uuid)


def is_whole() -> bool:
    """All frames of the scene's range are simulated from what is there now, and it shows."""
    status = entry().shot_status if entry() is not None else None
    if status is None or status.ready != status.frame_count:
        return False
    frames = addon.module("blender.objects").frames_of(bpy.context.scene)
    state = entry().state
    return entry().frames == frames and not state.stale and not state.owed


def offset() -> float:
    return measure.largest(measure.evaluated(skin()), measure.without_us(skin()))


def count_draws() -> list[int]:
    """Grows each time that our panel is drawn."""
    drawn: list[int] = []
    panel = addon.module("panels.main").SOFTRIG_PT_main
    original = panel.draw

    def draw(self: Any, context: Any) -> None:
        drawn.append(1)
        original(self, context)

    panel.draw = draw
    return drawn


def add_by_mouse() -> Iterator[float]:
    scenes.make_character()
    bpy.ops.ed.undo_push(message="a character")
    yield 0.5
    drawn = count_draws()
    yield from driver.open_tab(lambda: drawn)
    yield from driver.screenshot("1-before")
    yield from driver.press_button("bpy.ops.softrig.add()")
    yield from driver.wait_until(lambda: skin().softrig.uuid, "Add Softrig")
    yield from driver.wait_until(is_whole, "the whole shot")
    yield from driver.screenshot("2-ready")


def show_frames() -> Iterator[float]:
    bpy.context.scene.frame_set(1)
    assert offset() == 0.0
    for frame in (scenes.STOP_FRAME + 2, 30, scenes.STOP_FRAME):
        bpy.context.scene.frame_set(frame)
        yield 0.2
        assert offset() > 1e-4, f"nothing moves at frame {frame}"


def rest_is_quiet() -> Iterator[float]:
    """Once everything is recorded nothing goes on by itself: our own writes are not news to us."""
    yield from driver.wait_until(is_whole, "rest")
    yield 1.0
    recorded: list[int] = []
    api = addon.session().api
    original = api.write_tape
    api.write_tape = lambda *a: (recorded.append(1), original(*a))[1]
    yield 2.0
    bpy.context.scene.frame_set(12)
    yield 2.0
    del api.write_tape
    assert not recorded, f"recorded {len(recorded)} times without a reason"


def is_playing() -> bool:
    return any(w.screen.is_animation_playing for w in bpy.context.window_manager.windows)


def play() -> Iterator[float]:
    started = bpy.context.scene.frame_current
    yield from driver.key("space")
    yield from driver.wait_until(is_playing, "playback")
    yield 1.0
    yield from driver.screenshot("3-playing")
    yield from driver.key("space")
    assert bpy.context.scene.frame_current != started


def changed_keys_are_recorded() -> Iterator[float]:
    bpy.context.scene.frame_set(scenes.STOP_FRAME + 3)
    yield 0.3
    before = offset()
    rig = bpy.data.objects["Skin Rig"]
    rig.location.x = 12.0
    rig.keyframe_insert("location", frame=scenes.STOP_FRAME)
    yield 0.6
    yield from driver.wait_until(is_whole, "the new keys")
    yield 0.3
    assert abs(offset() - before) > 1e-3, "the shot did not follow its keys"
    assert bpy.context.scene.frame_current == scenes.STOP_FRAME + 3


def slider_makes_all_new() -> Iterator[float]:
    before = offset()
    skin().softrig.softness = 0.9
    yield 0.3
    yield from driver.wait_until(is_whole, "the new softness")
    yield 0.3
    assert abs(offset() - before) > 1e-4
    bpy.ops.ed.undo_push(message="softness")


def a_provisional_frame_comes_first() -> Iterator[float]:
    """Where the artist looks, late in a shot that takes a while; and the panel says so."""
    scene, describe = bpy.context.scene, addon.module("model.schedule").describe
    settings, end = skin().softrig, scene.frame_end
    scene.frame_end, settings.solver, settings.substeps = 250, "XPBD", 100
    scene.frame_set(scene.frame_end - 5)
    yield 0.5
    yield from driver.wait_until(is_whole, "the long shot", 120)
    settings.softness = 0.2
    yield from driver.wait_until(lambda: entry().provisional == scene.frame_current, "it")
    assert describe(entry()).startswith("Provisional frame")
    yield from driver.wait_until(is_whole, "the whole of it", 120)
    assert entry().provisional is None
    settings.property_unset("solver")
    settings.substeps, settings.softness, scene.frame_end = 10, 0.9, end
    scene.frame_set(scenes.STOP_FRAME + 3)
    yield 0.5
    yield from driver.wait_until(is_whole, "the short shot")
    bpy.ops.ed.undo_push(message="after a provisional frame")


def what_is_new_is_drawn_by_itself() -> Iterator[float]:
    """Nobody touches mouse or keys: the view shows what the carrier has all the same."""
    drawn: list[bytes] = []
    system = bpy.context.preferences.system
    smooth, system.viewport_aa = system.viewport_aa, "OFF"  # or a view is drawn again and again
    holder = addon.module("blender.carrier").find_carrier(skin())
    read = addon.module("blender.compat").read_positions

    def note() -> None:
        drawn.append(read(holder.data).tobytes())

    bpy.context.scene.frame_set(scenes.STOP_FRAME + 3)
    yield from driver.wait_until(is_whole, "the shot")
    yield 0.5
    before = read(holder.data).tobytes()
    handler = bpy.types.SpaceView3D.draw_handler_add(note, (), "WINDOW", "POST_PIXEL")
    try:
        skin().softrig.softness = 0.35
        yield 0.3
        yield from driver.wait_until(is_whole, "the new softness")
        yield 0.5
        now = read(holder.data).tobytes()
        assert now != before
        assert drawn and drawn[-1] == now, "the view still shows what was there before"
    finally:
        bpy.types.SpaceView3D.draw_handler_remove(handler, "WINDOW")
        system.viewport_aa = smooth
        skin().softrig.softness = 0.9
    yield 0.3
    yield from driver.wait_until(is_whole, "the old softness")
    bpy.ops.ed.undo_push(message="drawn")


def drag_softness_by_mouse() -> Iterator[float]:
    """While the mouse moves provisional frames come one after another; then the whole shot."""
    scene, settings, api = bpy.context.scene, skin().softrig, addon.session().api
    end, dragged, shown, read = scene.frame_end, set(), set(), api.read_provisional
    scene.frame_end, settings.solver, settings.substeps = 250, "XPBD", 50
    scene.frame_set(200)
    yield 0.5
    yield from driver.wait_until(is_whole, "the long shot", 120)

    def note(*arguments: Any) -> bool:
        shown.add(round(entry().settings.frequency_hz, 4))
        return read(*arguments)

    api.read_provisional = note
    recorded, write = [], api.write_tape
    api.write_tape = lambda *a: (recorded.append(1), write(*a))[1]
    for _ in driver.drag_dial("softness", -100):
        dragged.add(round(skin().softrig.softness, 4))
        yield _
    yield 1.0
    del api.read_provisional, api.write_tape
    assert not recorded, "a turned dial was taken for a change of the rig"
    assert len(dragged) >= 3, f"the mouse turned nothing: {dragged}"
    assert len(shown) >= 2, f"of {len(dragged)} values {len(shown)} were shown while dragging"
    yield from driver.wait_until(is_whole, "the whole of it", 120)
    assert entry().provisional is None
    settings = skin().softrig
    settings.property_unset("solver")
    settings.substeps, settings.softness, scene.frame_end = 10, 0.9, end
    scene.frame_set(scenes.STOP_FRAME + 3)
    yield 0.5
    yield from driver.wait_until(is_whole, "the short shot")
    bpy.ops.ed.undo_push(message="after dragging")


def two_windows() -> Iterator[float]:
    """The other shows a scene with other frames: it stands still there, and says so."""
    first = bpy.context.scene
    first.frame_set(scenes.STOP_FRAME + 2)
    yield 0.3
    yield from driver.wait_until(is_whole, "the shot before the second window")
    live = measure.evaluated(skin())
    other = bpy.data.scenes.new("Other")
    other.frame_end = 12
    for ob in first.objects:
        other.collection.objects.link(ob)
    with bpy.context.temp_override(window=driver.window()):
        bpy.ops.wm.window_new_main()
    yield 1.0
    windows = bpy.context.window_manager.windows
    assert len(windows) == 2
    windows[1].scene = other
    yield 1.0
    with bpy.context.temp_override(window=windows[1]):
        other.frame_set(5)
    yield 1.0
    warnings = addon.module("panels.main").warnings(skin(), entry())
    assert any("stands still" in text for text in warnings), warnings
    for window in windows:
        with bpy.context.temp_override(window=window, screen=window.screen):
            bpy.ops.screen.animation_play()
        yield 1.0
    for window in windows:
        if window.screen.is_animation_playing:
            with bpy.context.temp_override(window=window, screen=window.screen):
                bpy.ops.screen.animation_cancel(restore_frame=False)
    with bpy.context.temp_override(window=windows[1]):
        bpy.ops.wm.window_close()
    yield 0.5
    bpy.data.scenes.remove(other)
    first.frame_set(scenes.STOP_FRAME + 2)
    yield 0.5
    yield from driver.wait_until(is_whole, "the shot in one window")
    assert measure.same_bits(measure.evaluated(skin()), live)


def scrub_by_mouse() -> Iterator[float]:
    """Back and forth along the timeline: each frame shows what it shows when one plays to it."""
    scene, found = bpy.context.scene, {}
    for frame in range(1, scene.frame_end + 1):
        scene.frame_set(frame)
        found[frame] = measure.evaluated(skin())
    area = next(a for a in driver.window().screen.areas if a.type == "DOPESHEET_EDITOR")
    region = next(r for r in area.regions if r.type == "WINDOW")
    y, seen = region.y + region.height - 8, set()
    driver.move(region.x + region.width // 16, y)
    yield 0.2
    driver.x_event("mousedown", 1)
    for share in (0.08, 0.17, 0.12, 0.1, 0.15):
        driver.move(region.x + int(share * region.width), y)
        yield 0.3
        frame = scene.frame_current
        seen.add(frame)
        if frame in found:  # Blender notes the frame before it evaluates it
            right = found[frame]
            shown = f"frame {frame} as it is when played to"
            yield from driver.wait_until(
                lambda right=right: measure.same_bits(measure.evaluated(skin()), right), shown
            )
    driver.x_event("mouseup", 1)
    yield 0.2
    assert len(seen & set(found)) >= 2, f"the mouse did not scrub: {seen}"


def paint_by_mouse() -> Iterator[float]:
    """A stroke of the brush over the mesh, and the shot is another."""
    scene, ob = bpy.context.scene, skin()
    scene.frame_set(scenes.STOP_FRAME + 2)
    yield 0.3
    yield from driver.wait_until(is_whole, "the shot before painting")
    before = measure.evaluated(ob)
    region = next(r for r in driver.view().regions if r.type == "WINDOW")
    view = {"window": driver.window(), "area": driver.view(), "region": region}
    with bpy.context.temp_override(**view):
        bpy.ops.view3d.view_selected()
        assert bpy.ops.softrig.paint(kind="pin") == {"FINISHED"}
    yield 0.8
    assert skin().mode == "WEIGHT_PAINT"
    middle = (region.x + region.width // 2, region.y + region.height // 2)
    driver.move(middle[0], middle[1] - 60)
    yield 0.2
    driver.x_event("mousedown", 1)
    for step in range(-60, 70, 10):
        driver.move(middle[0] + step // 3, middle[1] + step)
        yield 0.05
    driver.x_event("mouseup", 1)
    yield 0.3
    yield from driver.screenshot("3-painted")
    group = skin().vertex_groups["Softrig Pin"].index
    painted = [e.weight for v in skin().data.vertices for e in v.groups if e.group == group]
    assert sum(weight > 0.1 for weight in painted) >= 3, "the brush painted nothing"
    with bpy.context.temp_override(**view):
        assert bpy.ops.softrig.paint(kind="pin") == {"FINISHED"}
    yield 0.3
    assert skin().mode == "OBJECT"
    yield from driver.wait_until(is_whole, "the painted shot")
    yield 0.3
    assert measure.largest(measure.evaluated(skin()), before) > 1e-3, "paint changed nothing"
    skin().softrig.map_pin = ""
    yield 0.3
    yield from driver.wait_until(is_whole, "the shot without paint")
    bpy.ops.ed.undo_push(message="painted")


def keyed_dials_are_followed() -> Iterator[float]:
    before = offset()
    skin().softrig.gravity_factor = 1.0
    skin().softrig.plain_gravity = True
    yield 0.6
    yield from driver.wait_until(is_whole, "gravity")
    yield 0.3
    pulled = offset()
    assert abs(pulled - before) > 1e-3, "gravity was turned up, and nothing sags"
    skin().softrig.keyframe_insert("gravity_factor", frame=1)
    skin().softrig.gravity_factor = 0.0
    skin().softrig.keyframe_insert("gravity_factor", frame=3)
    yield 0.6
    yield from driver.wait_until(is_whole, "keyed gravity")
    yield 0.3
    assert abs(offset() - pulled) > 1e-3, "the keys were not followed"
    skin().animation_data_clear()
    skin().softrig.gravity_factor, skin().softrig.plain_gravity = 0.0, False
    yield 0.6
    yield from driver.wait_until(is_whole, "no gravity")
    bpy.ops.ed.undo_push(message="gravity")


def fix_by_mouse() -> Iterator[float]:
    rig = bpy.data.objects["Skin Rig"].data
    rig.pose_position = "REST"
    findings = addon.session().findings
    yield from driver.wait_until(lambda: findings.get(skin().softrig.uuid), "the trap")
    yield from driver.screenshot("3-trap")
    yield from driver.press_button("bpy.ops.softrig.fix(")
    assert bpy.data.objects["Skin Rig"].data.pose_position == "POSE"
    assert not findings[skin().softrig.uuid]
    yield 0.6
    yield from driver.wait_until(is_whole, "the shot after the fix")


def undo_and_redo_while_it_works() -> Iterator[float]:
    for _ in range(3):
        skin().softrig.substeps = 100
        bpy.ops.ed.undo_push(message="substeps")
        yield 0.15
        yield from driver.key("ctrl+z")
        yield from driver.wait_until(lambda: skin().softrig.substeps == 10, "undo")
        yield from driver.key("ctrl+shift+z")
        yield from driver.wait_until(lambda: skin().softrig.substeps == 100, "redo")
        yield from driver.key("ctrl+z")
        yield from driver.wait_until(lambda: skin().softrig.substeps == 10, "undo again")
    yield from driver.wait_until(is_whole, "the shot after undo")
    yield 0.3
    assert offset() > 1e-4


def a_follower_is_undone_redone_and_deleted() -> Iterator[float]:
    """The heartbeat alone takes note of it."""
    bpy.context.scene.frame_set(scenes.STOP_FRAME + 2)
    yield from driver.wait_until(is_whole, "rest")
    hat = scenes.make_skin("Hat", 8)
    hat.parent = skin()
    scenes.make_active(skin())
    bpy.ops.ed.undo_push(message="a hat")
    hat.select_set(True)
    assert bpy.ops.softrig.follow() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="it follows")

    def hat_offset() -> float:
        hat = bpy.data.objects["Hat"]
        return measure.largest(measure.evaluated(hat), measure.without_us(hat))

    def follows() -> bool:
        return bool(entry().followers) and is_whole() and hat_offset() > 1e-4

    yield from driver.wait_until(follows, "the hat")
    before = hat_offset()
    yield from driver.key("ctrl+z")
    yield from driver.wait_until(lambda: entry() and not entry().followers, "the hat let go")
    assert not bpy.data.objects["Hat"].modifiers
    yield from driver.key("ctrl+shift+z")
    yield from driver.wait_until(follows, "the hat again")
    assert hat_offset() == before
    bpy.data.objects.remove(bpy.data.objects["Hat"])
    yield from driver.wait_until(lambda: not entry().followers and is_whole(), "no hat")
    bpy.ops.ed.undo_push(message="no hat")


def undo_of_add_forgets() -> Iterator[float]:
    for _ in range(31):  # as many steps as Blender keeps
        if not skin().softrig.uuid:
            break
        yield from driver.key("ctrl+z")
    yield 0.6
    assert "Softrig" not in skin().modifiers
    assert not addon.session().entries
    yield from driver.key("ctrl+shift+z")
    yield from driver.wait_until(lambda: "Softrig" in skin().modifiers, "redo of Add Softrig")
    yield from driver.wait_until(is_whole, "the character after redo")


def escape_cancels() -> Iterator[float]:
    """Adding and baking end at once and leave nothing."""
    scenes.make_active(scenes.make_skin("Other"))
    other = bpy.data.objects["Other"]
    other.softrig.cage_nodes = 200_000
    yield 0.5
    yield from driver.press_button("bpy.ops.softrig.add()")
    yield from driver.wait_until(lambda: addon.session().adding, "preparing")
    yield from driver.screenshot("4-preparing")
    yield from driver.key("Escape")
    yield from driver.wait_until(lambda: not addon.session().adding, "the end of preparing")
    other = bpy.data.objects["Other"]
    assert not other.modifiers and not other.softrig.uuid
    bpy.data.objects.remove(other)
    scenes.make_active(skin())
    usual = skin().softrig.solver
    skin().softrig.solver, skin().softrig.substeps = "XPBD", 100  # slow enough for Esc
    bpy.context.scene.frame_end = 5000
    yield 0.5
    yield from driver.press_button("bpy.ops.softrig.bake()")
    yield from driver.wait_until(lambda: entry().bake is not None, "the beginning of the bake")
    yield from driver.screenshot("5-baking")
    yield from driver.key("Escape")
    yield from driver.wait_until(lambda: entry().bake is None, "the end of the bake")
    assert addon.module("blender.carrier").find_bake(skin()) is None
    path = addon.module("blender.takes").default_path(skin())
    kept = addon.module("blender.bake").kept_file(path)
    assert kept.stat().st_size > 1000 and not Path(path).exists()
    with bpy.context.temp_override(window=driver.window(), area=driver.view()):
        bpy.ops.softrig.bake("INVOKE_DEFAULT")
    yield from driver.wait_until(lambda: entry().bake is not None, "the bake that goes on")
    assert kept.is_file()
    yield from driver.key("Escape")
    yield from driver.wait_until(lambda: entry().bake is None, "its end")
    kept.unlink()
    skin().softrig.solver, skin().softrig.substeps = usual, 10
    bpy.context.scene.frame_end = scenes.LAST_FRAME
    yield 0.3
    yield from driver.wait_until(is_whole, "the shot after Esc")
    bpy.ops.ed.undo_push(message="after Esc")


def render_from_the_window() -> Iterator[float]:
    """Its handlers run on another thread; what they show is what was live."""
    scene, seen, threads = bpy.context.scene, {}, set()
    live = {}
    prepare_render(scene)
    yield 0.5
    yield from driver.wait_until(is_whole, "the range of the render")
    for frame in (22, 24):
        scene.frame_set(frame)
        live[frame] = measure.evaluated(skin())

    def look(scene: Any, depsgraph: Any) -> None:
        if depsgraph.mode == "RENDER":
            seen[scene.frame_current] = measure.evaluated(skin(), depsgraph)
            threads.add(threading.current_thread())

    bpy.app.handlers.frame_change_post.append(look)
    bpy.ops.render.render("INVOKE_DEFAULT", animation=True)
    yield 0.5
    yield from driver.wait_until(lambda: not bpy.app.is_job_running("RENDER"), "the render", 60)
    bpy.app.handlers.frame_change_post.remove(look)
    scene.frame_start, scene.frame_end = 1, scenes.LAST_FRAME
    assert threads and threading.main_thread() not in threads
    assert sorted(seen) == [22, 23, 24]
    assert all(measure.same_bits(seen[frame], live[frame]) for frame in live)
    yield from driver.wait_until(is_whole, "the shot after the render")


def render_what_is_not_recorded_yet() -> Iterator[float]:
    """Keys change and the render begins at once: it waits for the recording, and shows it."""
    scene, rig, seen = bpy.context.scene, bpy.data.objects["Skin Rig"], {}
    scene.frame_start, scene.frame_end = 22, 24
    yield 0.3
    yield from driver.wait_until(is_whole, "the short range")
    rig.location.x = 9.0
    rig.keyframe_insert("location", frame=scenes.STOP_FRAME)
    skin().softrig.substeps = 100

    def look(scene: Any, depsgraph: Any) -> None:
        if depsgraph.mode == "RENDER":
            seen[scene.frame_current] = measure.evaluated(skin(), depsgraph)

    bpy.app.handlers.frame_change_post.append(look)
    bpy.ops.render.render("INVOKE_DEFAULT", animation=True)
    yield 0.5
    yield from driver.wait_until(lambda: not bpy.app.is_job_running("RENDER"), "the render", 60)
    bpy.app.handlers.frame_change_post.remove(look)
    assert not addon.session().render_waits and not addon.session().render_problems
    yield from driver.wait_until(is_whole, "the shot after the render")
    assert sorted(seen) == [22, 23, 24]
    for frame, positions in seen.items():
        scene.frame_set(frame)
        assert measure.same_bits(measure.evaluated(skin()), positions), frame
    skin().softrig.substeps, scene.frame_start, scene.frame_end = 10, 1, scenes.LAST_FRAME
    yield 0.3
    yield from driver.wait_until(is_whole, "the long range")


def a_cancelled_render_leaves_no_flag() -> Iterator[float]:
    """By a real Esc, which Blender asks X for."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.cycles.samples = 1, scenes.LAST_FRAME, 4000
    scene.render.resolution_x = scene.render.resolution_y = 400
    bpy.context.preferences.view.render_display_type = "WINDOW"
    yield 0.3
    yield from driver.wait_until(is_whole, "the shot before the render")
    bpy.ops.render.render("INVOKE_DEFAULT", animation=True)
    yield from driver.wait_until(lambda: bpy.app.is_job_running("RENDER"), "the render")
    yield 1.5
    for _ in range(10):
        if bpy.app.is_job_running("RENDER"):
            driver.x_event("key", "Escape")
        yield 0.5
    yield from driver.wait_until(lambda: not bpy.app.is_job_running("RENDER"), "its end", 60)
    assert not addon.session().render_waits
    scene.cycles.samples = 1
    scene.render.resolution_x = scene.render.resolution_y = 16
    skin().softrig.softness = 0.3
    yield 0.5
    yield from driver.wait_until(is_whole, "the shot after the cancelled render")
    skin().softrig.softness = 0.5
    yield 0.3
    for extra in bpy.context.window_manager.windows[1:]:
        with bpy.context.temp_override(window=extra):
            bpy.ops.wm.window_close()
    yield 0.5


def prepare_render(scene: Any) -> None:
    camera = scenes.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    scene.camera, scene.render.engine = camera, "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 1, False
    scene.render.resolution_x = scene.render.resolution_y = 16
    scene.render.filepath = tempfile.mkdtemp() + "/"
    scene.render.use_lock_interface = True
    bpy.context.preferences.view.render_display_type = "NONE"
    scene.frame_start, scene.frame_end = 22, 24
    bpy.context.view_layer.update()


def bake_and_free() -> Iterator[float]:
    bpy.context.scene.frame_set(scenes.STOP_FRAME + 2)
    yield 0.3
    yield from driver.wait_until(is_whole, "the shot before the bake")
    live = measure.evaluated(skin())
    yield from driver.press_button("bpy.ops.softrig.bake()")
    carrier = addon.module("blender.carrier")
    yield from driver.wait_until(lambda: carrier.find_bake(skin()), "the bake")
    yield from driver.screenshot("6-baked")
    assert measure.same_bits(measure.evaluated(skin()), live)
    yield from driver.press_button("bpy.ops.softrig.free_bake()")
    assert carrier.find_bake(skin()) is None


def delete_while_it_works() -> Iterator[float]:
    skin().softrig.substeps = 100
    yield 0.3
    scenes.make_active(skin())
    bpy.data.objects.remove(skin())
    yield from driver.wait_until(lambda: not addon.session().entries, "forgetting it")
    assert addon.session().api.byte_count() == 0


def load_while_it_works() -> Iterator[float]:
    scenes.make_character()
    yield 0.3
    path = str(Path(tempfile.mkdtemp()) / "softrig.blend")
    yield from driver.press_button("bpy.ops.softrig.add()")
    yield from driver.wait_until(lambda: skin().softrig.uuid, "Add Softrig again")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    skin().softrig.substeps = 100
    yield 0.3
    bpy.ops.wm.open_mainfile(filepath=path)
    # a timer's turn before Blender has drawn the new file: 3.4 has no window in its context then
    assert bpy.context.window is None
    for _ in range(200):
        addon.module("handlers.timer").turn()
        if entry() is not None and is_whole():
            break
        time.sleep(0.02)
    assert is_whole(), "the loaded character is not recorded before the first drawing"
    yield 0.5
    yield from driver.wait_until(is_whole, "the loaded character")
    bpy.context.scene.frame_set(scenes.STOP_FRAME + 2)
    yield 0.3
    assert offset() > 1e-4


def mirror_and_subdivision_stand_before() -> Iterator[float]:
    """A mirror that hangs on an empty, and a subdivision behind it; both before the armature."""
    scenes.start_empty()
    yield 1.0
    scenes.make_character()
    move = addon.module("blender.compat").move_modifier
    mirror = skin().modifiers.new("Mirror", "MIRROR")
    mirror.mirror_object = scenes.link(bpy.data.objects.new("Axis", None))
    mirror.mirror_object.location.x, mirror.use_mirror_merge = 2.0, False
    subdivision = skin().modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels = subdivision.render_levels = 1
    for place, modifier in enumerate((mirror, subdivision)):
        move(skin(), modifier, place)
    scenes.make_active(skin())
    bpy.ops.ed.undo_push(message="mirrored")
    yield 0.3
    bpy.ops.softrig.add()
    yield from driver.wait_until(lambda: skin().softrig.uuid, "Add Softrig before a mirror", 60)
    yield from driver.wait_until(is_whole, "the mirrored shot", 60)
    bpy.context.scene.frame_set(scenes.STOP_FRAME + 2)
    yield 0.3
    live, still = measure.evaluated(skin()), measure.without_us(skin())
    swings = abs(live - still).reshape(2, -1)
    assert swings.max(axis=1).min() > 1e-3, "one half stands still"
    bpy.ops.softrig.bake()
    carrier = addon.module("blender.carrier")
    yield from driver.wait_until(lambda: carrier.find_bake(skin()), "the mirrored bake")
    assert measure.same_bits(measure.evaluated(skin()), live)
    bpy.ops.softrig.free_bake()
    for subdivision in (m for m in skin().modifiers if m.type == "SUBSURF"):
        subdivision.levels = subdivision.render_levels = 0

    def is_new() -> bool:
        return not carrier.is_stack_changed(skin()) and is_whole()

    yield from driver.wait_until(is_new, "the shot without subdivision", 60)
    yield 0.3
    assert len(measure.evaluated(skin())) < len(live) and offset() > 1e-3


def what_another_addon_moves_is_told_and_mended() -> Iterator[float]:
    """One click plays the scene to record it, with progress; the artist's frame stays."""
    scenes.start_empty()
    yield 1.0
    hook = scenes.link(bpy.data.objects.new("Hook", None))
    scenes.make_active(scenes.make_skin("Skin"))
    modifier = skin().modifiers.new("Hook", "HOOK")
    modifier.object = hook
    modifier.vertex_indices_set([v.index for v in skin().data.vertices if v.co.z > 1.5])
    scene = bpy.context.scene

    def move(shown: Any, *_: Any) -> None:
        if shown == scene:
            frame = min(shown.frame_current, scenes.STOP_FRAME)
            bpy.data.objects["Hook"].location.x = 0.1 * (frame % 7)

    bpy.app.handlers.frame_change_pre.append(move)
    try:
        bpy.ops.softrig.add()
        yield from driver.wait_until(lambda: skin().softrig.uuid, "Add Softrig on a hooked mesh")
        yield from driver.wait_until(is_whole, "the shot that knows of no hook")
        for frame in (5, 11, 16):
            scene.frame_set(frame)
            yield 1.2
        assert entry().doubtful and "Record Again" in entry().notice
        bpy.ops.softrig.record(step_scene=True)
        yield from driver.wait_until(lambda: not entry().doubtful and is_whole(), "the hook")
        assert entry().steps_scene and scene.frame_current == 16
        scene.frame_set(scenes.STOP_FRAME + 2)
        yield 0.3
        assert offset() > 1e-3, "the flesh does not feel the hook"
    finally:
        bpy.app.handlers.frame_change_pre.remove(move)


def switch_off() -> Iterator[float]:
    api = addon.session().api
    addon.disable()
    yield 0.5
    assert api.byte_count() == 0


STORY = (
    add_by_mouse,
    show_frames,
    rest_is_quiet,
    play,
    changed_keys_are_recorded,
    slider_makes_all_new,
    a_provisional_frame_comes_first,
    what_is_new_is_drawn_by_itself,
    drag_softness_by_mouse,
    two_windows,
    scrub_by_mouse,
    paint_by_mouse,
    keyed_dials_are_followed,
    fix_by_mouse,
    undo_and_redo_while_it_works,
    escape_cancels,
    render_from_the_window,
    render_what_is_not_recorded_yet,
    a_cancelled_render_leaves_no_flag,
    bake_and_free,
    undo_of_add_forgets,
    a_follower_is_undone_redone_and_deleted,
    delete_while_it_works,
    load_while_it_works,
    weigh_with_progress,
    mirror_and_subdivision_stand_before,
    what_another_addon_moves_is_told_and_mended,
    switch_off,
)
