# SPDX-License-Identifier: GPL-3.0-or-later
"""The bench in Blender's window: playback with and without us, and a changed Softness.

Argument: the file that rows are added to. Ends Blender with 0, or with 1 after a traceback.
"""

import statistics
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "addon" / "blender"), str(FOLDER.parents[2])]

import measured  # noqa: E402
from report import Report  # noqa: E402
from support import addon, scenes  # noqa: E402

PLAYED = 16
ROUNDS = 2
LOOKED_AT = 200
ROUNDS_OF_SOFTNESS = 5


def skin() -> Any:
    return bpy.data.objects["Skin"]


def entry() -> Any:
    return addon.entry_of(skin())


def play() -> Iterator[Any]:
    """Lets Blender play some frames; the last thing it gives is their times in milliseconds."""
    shown: list[float] = []

    def note(*_: Any) -> None:
        shown.append(time.perf_counter())

    def toggle() -> None:
        window = bpy.context.window_manager.windows[0]
        with bpy.context.temp_override(window=window, screen=window.screen):
            bpy.ops.screen.animation_play()

    bpy.app.handlers.frame_change_post.append(note)
    toggle()
    while len(shown) < PLAYED:
        yield 0.2
    toggle()
    bpy.app.handlers.frame_change_post.remove(note)
    return [1e3 * (b - a) for a, b in zip(shown[3:], shown[4:], strict=False)]


def played(report: Report, name: str) -> Iterator[float]:
    """Frames as quick as they come, none dropped; plain playback and ours take turns."""
    scene = bpy.context.scene
    scene.render.fps, scene.sync_mode = 1000, "NONE"
    plain, ours = [], []
    yield from settle()
    for _ in range(ROUNDS):
        with measured.switched_off(skin()):
            scene.frame_set(20)
            times = yield from play()
            plain.append(statistics.median(times))
        scene.frame_set(20)
        yield 0.5
        times = yield from play()
        ours.append(statistics.median(times))
    scene.render.fps = 24
    yield from settle()
    report.add(f"played frame, {name}: Softrig off (baseline)", min(plain), "ms")
    report.add(f"played frame, {name}: Softrig on", min(ours), "ms")
    report.add(f"played frame, {name}: on / off", min(ours) / min(plain))


def settle() -> Iterator[float]:
    """Until the shot is whole, in frames and rate of the scene."""
    objects = addon.module("blender.objects")
    for _ in range(600):
        yield 0.2
        status = entry().shot_status
        same = entry().frames == objects.frames_of(bpy.context.scene)
        if same and not entry().state.stale and status and status.ready == status.frame_count:
            return
    raise RuntimeError("the shot did not become whole")


def evaluated(report: Report, name: str) -> None:
    plain, ours, share = measured.shown_frames(skin())
    report.add(f"shown frame, {name}: Softrig off (baseline)", plain, "ms")
    report.add(f"shown frame, {name}: Softrig on", ours, "ms")
    report.add(f"shown frame, {name}: our share", share, "ms", "<= 8")


def redraw() -> float:
    """Milliseconds of one drawing of the whole window, which lies between any two of our turns."""
    window = bpy.context.window_manager.windows[0]
    started = time.perf_counter()
    with bpy.context.temp_override(window=window, screen=window.screen):
        bpy.ops.wm.redraw_timer(type="DRAW_WIN", iterations=1)
    return 1e3 * (time.perf_counter() - started)


def note_answer(started: float, answers: list[float]) -> None:
    """In a thread of its own, which goes on while Blender draws."""
    api, shot = addon.session().api, entry().shot

    def look() -> None:
        while time.perf_counter() - started < 60.0:
            if api.shot_status(shot).provisional_frame == LOOKED_AT:
                answers.append(1e3 * (time.perf_counter() - started))
                return
            time.sleep(0.003)

    threading.Thread(target=look, daemon=True).start()


class Views:
    """When the view began to draw the provisional frame, evaluated, and when it had drawn it."""

    def __init__(self) -> None:
        self.begun, self.drawn = 0.0, 0.0
        add, space = bpy.types.SpaceView3D.draw_handler_add, "WINDOW"
        self.handlers = [
            add(self.note, ("begun",), space, "PRE_VIEW"),
            add(self.note, ("drawn",), space, "POST_PIXEL"),
        ]

    def note(self, what: str) -> None:
        if entry().provisional == LOOKED_AT and not getattr(self, what):
            setattr(self, what, time.perf_counter())

    def remove(self) -> None:
        for handler in self.handlers:
            bpy.types.SpaceView3D.draw_handler_remove(handler, "WINDOW")


def smooth_edges(on: bool) -> None:
    """Blender's anti-aliasing: after a change it draws the view eight times more. A graphics card
    does so in passing; in software it takes both cores, the workers' too, for seconds."""
    bpy.context.preferences.system.viewport_aa = "8" if on else "OFF"


def soften(report: Report) -> Iterator[float]:
    """As Blender's own slider does: the property, the tag, and what is drawn then."""
    seconds, _ = yield from soften_rounds(report, ROUNDS_OF_SOFTNESS)
    report.add("Softness: whole shot new, nine views drawn in software meanwhile", seconds, "s")
    smooth_edges(False)
    seconds, looked = yield from soften_rounds(None, ROUNDS_OF_SOFTNESS)
    smooth_edges(True)
    report.add(f"Softness: frame {LOOKED_AT}, looked at, new", looked, "ms")
    report.add("Softness: whole shot new", seconds, "s", "<= 2.5")


def turn_softness(value: float) -> Iterator[float]:
    """Turned, and waited for until the whole shot is new; gives when the frame looked at was."""
    api, shot, seen = addon.session().api, entry().shot, 0.0
    skin().softrig.softness = value
    skin().update_tag()
    while api.shot_status(shot).ready == measured.FRAME_COUNT:
        yield 0.01
    while (ready := api.shot_status(shot).ready) < measured.FRAME_COUNT:
        seen = time.perf_counter() if not seen and ready >= LOOKED_AT else seen
        yield 0.01
    return seen or time.perf_counter()


def soften_rounds(report: Report | None, count: int) -> Iterator[Any]:
    """Seconds until the shot was whole and milliseconds until the frame looked at was right; what
    was seen before that goes into the report."""
    answers, times = [], {name: [] for name in ("begun", "drawn")}
    looked, whole = [], []
    bpy.context.scene.frame_set(LOOKED_AT)
    redrawn = statistics.median(redraw() for _ in range(5))
    for number in range(count):
        yield from settle()
        views, started = Views(), time.perf_counter()
        note_answer(started, answers)
        seen = yield from turn_softness(0.3 + 0.1 * number)
        whole.append(time.perf_counter() - started)
        looked.append(1e3 * (seen - started))
        views.remove()
        for name, found in times.items():
            found.append(1e3 * (getattr(views, name) - started))
    if report is not None:
        begun, drawn = (statistics.median(times[name]) for name in ("begun", "drawn"))
        made = statistics.median(answers)
        report.add("one redraw of the window (baseline)", redrawn, "ms")
        report.add("Softness: provisional frame made", made, "ms", "<= 100")
        report.add("Softness: provisional frame where looked at", begun, "ms", "<= 100")
        report.add("Softness: provisional frame, drawn too", drawn, "ms")
    return statistics.median(whole), statistics.median(looked)


def story(path: Path) -> Iterator[float]:
    report = Report(path, f"Blender {bpy.app.version_string}, window")
    bpy.context.preferences.view.show_splash = False
    yield 1.0
    scenes.start_empty()
    yield 1.0
    measured.build()
    skin().softrig.cage_nodes = measured.NODE_COUNT
    bpy.ops.softrig.add()
    while not skin().softrig.uuid:
        yield 0.2
    yield from settle()
    evaluated(report, "live")
    yield from played(report, "live")
    yield from soften(report)
    yield from settle()
    bpy.ops.softrig.bake()
    while addon.module("blender.carrier").find_bake(skin()) is None:
        yield 0.2
    evaluated(report, "baked")
    yield from played(report, "baked")


def turn(steps: Iterator[float]) -> float | None:
    try:
        return next(steps)
    except StopIteration:
        code = 0
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.exit(code)


STEPS = story(Path(sys.argv[sys.argv.index("--") + 1]))
bpy.app.timers.register(lambda: turn(STEPS), first_interval=1.0, persistent=True)
