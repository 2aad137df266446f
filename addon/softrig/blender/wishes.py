# SPDX-License-Identifier: GPL-3.0-or-later
"""What the artist wants of one character at this moment: range, dials, surroundings."""

from dataclasses import replace
from typing import Any

import bpy

from ..model.schedule import Wish
from ..model.session import Entry, Session
from ..native.inputs import ShotSettings
from . import actions, gather, objects, tape
from .properties import read_map_choices, read_settings


def settings_of(entry: Entry, ob: Any) -> ShotSettings:
    """The artist's dials, and the gravity that the shape was modelled under."""
    if ob.softrig.plain_gravity:
        return read_settings(ob)
    return replace(read_settings(ob), rest_gravity=entry.rest_gravity)


def make_wish(session: Session, entry: Entry, ob: Any, scene: Any, at_once: bool = False) -> Wish:
    manager = bpy.context.window_manager
    playing = any(window.screen.is_animation_playing for window in manager.windows)
    return Wish(
        frames=objects.shot_frames(ob, scene),
        settings=settings_of(entry, ob),
        build=gather.build_inputs(ob),
        frame=objects.shown_frame(scene),
        maps=read_map_choices(ob),
        surroundings=objects.surroundings_of(scene),
        animation=animation_of(ob),
        groups=gather.group_names(ob),
        playing=playing,
        rendering=is_rendering(session),
        editing=ob.data.is_editmode,
        painting=objects.mode_of(ob) not in ("OBJECT", "POSE"),
        at_once=at_once,
    )


def animation_of(ob: Any) -> tuple[Any, ...]:
    """What plays on the object, its armatures and their parents.

    Blender tells of keys that changed, but not that all of them were cleared by a script.
    """
    found, left = [], [ob, *tape.find_armatures(ob)]
    while left:
        mover = left.pop()
        if mover is not None and mover.name not in found:
            found += [mover.name, actions.describe_animation(mover)]
            left.append(mover.parent)
    return tuple(found)


def is_rendering(session: Session) -> bool:
    """Blender's data are not ours to touch; while the render waits for us they are."""
    return bpy.app.is_job_running("RENDER") and not session.render_waits
