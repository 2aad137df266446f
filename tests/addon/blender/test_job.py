# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work in the window: whatever it raises, its timer and its words in the status bar go."""

from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from support import addon, scenes

TICK = SimpleNamespace(type="TIMER", value="NOTHING")
ESC = SimpleNamespace(type="ESC", value="PRESS")


def make_job(**parts: Any) -> tuple[Any, Any, SimpleNamespace]:
    """A job, what it is called with, and what is to be seen of it."""
    seen = SimpleNamespace(status=None, reports=[], given_up=0)
    module = addon.module("operators.job")

    class Counting(module.Job):
        bl_label = "Counting"
        _timer = object()

        def turn(self, context: Any) -> set[str] | None:
            return None

        def give_up(self, context: Any) -> None:
            seen.given_up += 1

        def progress_text(self) -> str:
            return "half"

        def report(self, kind: set[str], text: str) -> None:
            seen.reports.append((kind, text))

    for name, part in parts.items():
        setattr(Counting, name, part)
    workspace = SimpleNamespace(status_text_set=lambda text: setattr(seen, "status", text))
    return Counting(), SimpleNamespace(workspace=workspace), seen


def fail(*_: Any) -> Any:
    raise ValueError("the third leg is missing")


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Those that were removed; there is no window here to hang one on."""
    removed: list[Any] = []
    manager = SimpleNamespace(event_timer_remove=removed.append, windows=[])
    module = addon.module("operators.job")
    context = SimpleNamespace(window_manager=manager)
    monkeypatch.setattr(module, "bpy", SimpleNamespace(context=context))
    monkeypatch.setattr(module, "redraw_panels", lambda: None)
    return removed


@pytest.mark.parametrize("part", ["turn", "progress_text"])
def test_a_job_that_raises_ends_with_a_sentence(scene: Any, timers: list[Any], part: str) -> None:
    job, context, seen = make_job()
    assert job.modal(context, TICK) == {"PASS_THROUGH"} and "half" in seen.status
    setattr(job, part, fail)
    assert job.modal(context, TICK) == {"CANCELLED"}
    assert seen.status is None and len(timers) == 1 and seen.given_up == 1
    assert seen.reports == [({"ERROR"}, "Counting broke off: the third leg is missing")]


@pytest.mark.parametrize("event", [TICK, ESC])
def test_a_job_that_cannot_even_be_given_up_ends(scene: Any, timers: list[Any], event: Any) -> None:
    job, context, seen = make_job(turn=fail, give_up=fail)
    assert job.modal(context, event) == {"CANCELLED"}
    assert seen.status is None and len(timers) == 1
    assert [kind for kind, _ in seen.reports] == [{"ERROR"}]


def test_without_a_window_it_is_a_sentence_too(scene: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    skin, _ = scenes.make_character()
    api = addon.session().api
    monkeypatch.setattr(api, "weights_status", fail)
    scenes.make_active(skin)
    with pytest.raises(RuntimeError, match="Softrig Weights broke off: the third leg is missing"):
        bpy.ops.softrig.weigh()
    assert api.byte_count() == 0
