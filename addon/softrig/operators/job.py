# SPDX-License-Identifier: GPL-3.0-or-later
"""What all doors share: finding session and character, and long work with progress and Esc."""

import logging
from contextlib import suppress
from typing import Any

import bpy

from ..blender import objects, seen, stage, watch
from ..blender.status import redraw_panels
from ..model.session import Entry, Session, current

log = logging.getLogger(__name__)

TURN_SECONDS = 0.05


def usable_session() -> Session | None:
    """The session when its library works."""
    session = current()
    return session if session is not None and session.api is not None else None


def acting_session() -> Session | None:
    """For what writes to characters: a script may have copied one a moment ago."""
    session = usable_session()
    if session is not None:
        seen.forget(session)
        watch.separate_copies(session)
    return session


def poll_library(cls: Any) -> bool:
    if usable_session() is not None:
        return True
    cls.poll_message_set("The Softrig library is not loaded; the panel says why")
    return False


def poll_character(cls: Any, context: Any) -> bool:
    ob = context.object
    if ob is None or ob.type != "MESH" or not objects.is_character(ob):
        cls.poll_message_set("Select a mesh that has Softrig")
        return False
    return poll_library(cls)


def entry_of(session: Session, ob: Any, scene: Any) -> Entry:
    return session.open_entry(ob.softrig.uuid, ob.name, scene.name)


class Job:
    """A modal operator that only feeds turns: `begin` says whether there is something to do, `turn`
    answers None while there is more. Without a window all turns come at once. What a turn raises
    ends the job with a sentence: Blender would drop it and keep its timer and status text."""

    def execute(self, context: Any) -> set[str]:
        if not self.begin(context):
            return {"CANCELLED"}
        try:
            while True:
                answer = self.turn(context)
                if answer is not None:
                    return answer
                stage.pause()
        except Exception as error:
            return self.break_off(context, error)

    def invoke(self, context: Any, event: Any) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        return self.start_job(context) if self.begin(context) else {"CANCELLED"}

    def start_job(self, context: Any) -> set[str]:
        manager = context.window_manager
        self._timer = manager.event_timer_add(TURN_SECONDS, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: Any) -> set[str]:
        try:
            return self.follow(context, event)
        except Exception as error:
            answer = self.break_off(context, error)
        self.end_job(context)
        return answer

    def break_off(self, context: Any, error: Exception) -> set[str]:
        log.error("%s broke off", self.bl_label, exc_info=error)
        with suppress(Exception):  # one error is enough, and is told
            self.give_up(context)
        self.report({"ERROR"}, f"{self.bl_label} broke off: {str(error) or type(error).__name__}")
        return {"CANCELLED"}

    def follow(self, context: Any, event: Any) -> set[str]:
        if usable_session() is None:
            self.end_job(context)
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            self.give_up(context)
            self.end_job(context)
            self.report({"INFO"}, self.cancelled_text())
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        answer = self.turn(context)
        redraw_panels()
        if answer is None:
            context.workspace.status_text_set(f"Softrig: {self.progress_text()}   (Esc cancels)")
            return {"PASS_THROUGH"}
        self.end_job(context)
        return answer

    def cancel(self, context: Any) -> None:
        """Blender ends us: another file, or it quits."""
        try:
            self.give_up(context)
        finally:
            self.end_job(context)

    def cancelled_text(self) -> str:
        return "Cancelled"

    def end_job(self, context: Any) -> None:
        if self._timer is not None:
            bpy.context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        redraw_panels()
