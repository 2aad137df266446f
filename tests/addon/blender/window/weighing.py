# SPDX-License-Identifier: GPL-3.0-or-later
"""Softrig Weights in the window: it says how far it is, Esc leaves all as it was, else it ends."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
import driver
from support import addon, scenes

NODES = 30_000
"""Enough for some seconds."""


@dataclass
class Watched:
    """What the operator says while it runs, in percent, and how often it came to an end."""

    told: list[int] = field(default_factory=list)
    ends: int = 0


def watch(kind: Any) -> Watched:
    watched, say, end = Watched(), kind.progress_text, kind.end_job

    def note(self: Any) -> str:
        text = say(self)
        watched.told.append(int(text.split(",")[1].split()[0]))
        return text

    def note_end(self: Any, context: Any) -> None:
        end(self, context)
        watched.ends += 1

    kind.progress_text, kind.end_job = note, note_end
    return watched


def start() -> None:
    other, rig = bpy.data.objects["Other"], bpy.data.objects["Other Rig"]
    scenes.make_active(other)
    rig.select_set(True)
    with bpy.context.temp_override(window=driver.window(), area=driver.view()):
        answer = bpy.ops.softrig.weigh("INVOKE_DEFAULT", nodes=NODES)
    assert answer == {"RUNNING_MODAL"}


def weigh_with_progress() -> Iterator[float]:
    scenes.make_armature("Other Rig")
    scenes.make_skin("Other", segments=48)
    bpy.ops.ed.undo_push(message="a mesh without weights")
    api, kind = addon.session().api, addon.module("operators.weigh").SOFTRIG_OT_weigh
    # what the parts before this one left is still being freed
    counts: list[int] = []
    while len(counts) < 10 or len(set(counts[-10:])) > 1:
        counts.append(api.byte_count())
        assert len(counts) < 100, "what the library holds never comes to rest"
        yield 0.2
    before, originals = api.byte_count(), (kind.progress_text, kind.end_job)
    watched = watch(kind)

    start()
    yield from driver.wait_until(lambda: len(set(watched.told)) > 2, "progress")
    assert watched.ends == 0 and api.byte_count() > before
    yield from driver.key("Escape")
    yield from driver.wait_until(lambda: watched.ends == 1, "the end by Esc", 5)
    other = bpy.data.objects["Other"]
    assert not other.vertex_groups and not other.modifiers
    after = api.byte_count()
    assert after - before < 1024, "more than a table that grew once"

    watched.told.clear()
    start()
    yield from driver.wait_until(lambda: watched.told, "progress again")
    yield from driver.screenshot("7-weighing")
    turns = 0
    while watched.ends == 1 and turns < 600:
        turns += 1
        yield 0.1
    assert watched.ends == 2, "weights were never there"
    assert watched.told == sorted(watched.told) and len(set(watched.told)) > 5, watched.told
    assert turns > 5, "Blender stood still meanwhile"
    other = bpy.data.objects["Other"]
    assert set(other.vertex_groups.keys()) == set(scenes.BONES)
    assert [m.type for m in other.modifiers] == ["ARMATURE"]
    assert api.byte_count() == after

    yield from driver.key("ctrl+z")
    yield from driver.wait_until(lambda: not bpy.data.objects["Other"].vertex_groups, "undo")
    kind.progress_text, kind.end_job = originals
    for name in ("Other", "Other Rig"):
        bpy.data.objects.remove(bpy.data.objects[name])
    bpy.ops.ed.undo_push(message="after weighing")
