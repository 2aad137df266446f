# SPDX-License-Identifier: GPL-3.0-or-later
"""The bench in a Blender without a window. Argument: the file that rows are added to."""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "addon" / "blender"), str(FOLDER.parents[2])]

import measured  # noqa: E402
from report import Report  # noqa: E402
from support import addon, scenes  # noqa: E402

LOOKED_AT = 200
SHARE_GOAL = "<= 8" if bpy.app.version < (4, 0, 0) else "<= 2"


def median_of(count: int, measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(count))


def describe(report: Report, skin: Any) -> None:
    entry = addon.entry_of(skin)
    report.add("skin", len(skin.data.vertices), "vertices")
    report.add("cage", entry.report["nodeCount"], "nodes")
    report.add("bones", len(entry.plan.bones))
    report.add("frames", entry.frames.count)


def shown(report: Report, skin: Any, name: str) -> None:
    plain, ours, share = measured.shown_frames(skin)
    report.add(f"shown frame, {name}: Softrig off (baseline)", plain, "ms")
    report.add(f"shown frame, {name}: Softrig on", ours, "ms")
    report.add(f"shown frame, {name}: our share", share, "ms", SHARE_GOAL)


def count(report: Report, name: str, most_calls: str) -> None:
    """Per shown frame, as counted at 20 of them."""
    with measured.counted() as (counter, copies):
        measured.frame_times(range(60, 80))
    filled = counter.calls.count("srShot_ReadOffsets")
    report.add(f"native calls per shown frame, {name}", len(counter.calls) / 20, "", most_calls)
    report.add(f"skin copies per shown frame, {name}", (filled + len(copies)) / 20, "", "<= 2")


def record(report: Report, skin: Any) -> None:
    tape, entry, scene = addon.module("blender.tape"), addon.entry_of(skin), bpy.context.scene
    frames = range(entry.frames.first, entry.frames.last + 1)

    def once() -> float:
        started = time.perf_counter()
        tape.record(addon.session(), scene, skin, entry.plan, frames)
        return 1e3 * (time.perf_counter() - started) / len(frames)

    def all_of_it() -> float:
        started = time.perf_counter()
        bpy.ops.softrig.record()
        return time.perf_counter() - started

    report.add("recording, a frame", median_of(5, once), "ms", "<= 1")
    report.add("Record Again: mesh read and compared, 250 frames", median_of(3, all_of_it), "s")


def soften(report: Report, skin: Any) -> None:
    """What the timer does in the window, without its tenth of a second between turns."""
    stage, session, entry = addon.module("blender.stage"), addon.session(), addon.entry_of(skin)
    provisional, looked, whole = [], [], []
    bpy.context.scene.frame_set(LOOKED_AT)
    for number in range(5):
        started = time.perf_counter()
        skin.softrig.softness = 0.3 + 0.1 * number
        stage.advance(session, entry, skin, bpy.context.scene)
        while entry.provisional != LOOKED_AT:
            time.sleep(0.005)
            stage.advance(session, entry, skin, bpy.context.scene)
        provisional.append(1e3 * (time.perf_counter() - started))
        measured.wait_for(entry, LOOKED_AT)
        looked.append(1e3 * (time.perf_counter() - started))
        measured.wait_for(entry, measured.FRAME_COUNT)
        whole.append(time.perf_counter() - started)
        stage.advance(session, entry, skin, bpy.context.scene)
    report.add(f"Softness: frame {LOOKED_AT}, looked at, new", statistics.median(looked), "ms")
    report.add("Softness: whole shot new", statistics.median(whole), "s", "<= 2.5")
    seen = statistics.median(provisional)
    report.add("Softness: provisional frame where looked at", seen, "ms", "<= 100")


def follow(report: Report, skin: Any) -> None:
    """A cloth of as many vertices on the same armature, that goes along and goes again."""
    cloth = skin.copy()
    cloth.data = skin.data.copy()
    cloth.property_unset("softrig")
    cloth.modifiers.remove(cloth.modifiers["Softrig"])
    scenes.link(cloth)
    bpy.context.scene.frame_set(1)
    *_, before = measured.shown_frames(skin)
    scenes.make_active(skin)
    cloth.select_set(True)
    started = time.perf_counter()
    if bpy.ops.softrig.follow() != {"FINISHED"}:
        raise RuntimeError("it does not follow")
    bpy.context.scene.frame_set(1)
    entry = addon.entry_of(skin)
    measured.wait_for(entry, measured.FRAME_COUNT)
    seconds = time.perf_counter() - started
    *_, share = measured.shown_frames(skin, cloth)
    count = len(cloth.data.vertices)
    name = f"a follower of {count} vertices"
    report.add(f"{name}: until it rides", seconds, "s")
    report.add(f"shown frame, live: our share, with {name}", share, "ms")
    report.add(f"shown frame, live: what {name} adds", share - before, "ms", SHARE_GOAL)
    embed(report, entry)
    bpy.ops.softrig.unfollow(follower=cloth.name)
    bpy.data.objects.remove(cloth)
    bpy.context.scene.frame_set(1)
    scenes.make_active(skin)


def embed(report: Report, entry: Any) -> None:
    """What the library takes to put a follower's points into the cage."""
    api, rest = addon.session().api, entry.followers[0].shape.rest

    def once() -> float:
        started = time.perf_counter()
        follower = api.create_follower(entry.shot, rest, False)
        seconds = time.perf_counter() - started
        api.destroy_follower(follower)
        return seconds / (len(rest) / 3) * 1e5

    report.add("a follower embedded, 100,000 points", median_of(5, once), "s")


def bake(report: Report, skin: Any) -> None:
    def once() -> float:
        started = time.perf_counter()
        if bpy.ops.softrig.bake() != {"FINISHED"}:
            raise RuntimeError("not baked")
        return time.perf_counter() - started

    report.add("bake to disk, 250 frames", median_of(3, once), "s", "<= 3")


def run(path: Path) -> None:
    report = Report(path, f"Blender {bpy.app.version_string}, headless")
    scenes.start_empty()
    skin, _ = measured.build()
    report.add("Add Softrig until the whole shot is there", measured.add_softrig(skin), "s")
    describe(report, skin)
    shown(report, skin, "live")
    count(report, "live", "== 1")
    record(report, skin)
    soften(report, skin)
    follow(report, skin)
    bake(report, skin)
    shown(report, skin, "baked")
    count(report, "baked", "== 0")


if __name__ == "__main__":
    run(Path(sys.argv[sys.argv.index("--") + 1]))
