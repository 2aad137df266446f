# SPDX-License-Identifier: GPL-3.0-or-later
"""What the artist changes: keys, poses and bones make the tape stale; new objects want a look."""

import threading
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..blender import echoes, readers, seen, watch
from ..blender.status import redraw_views
from ..model.session import Session
from . import timer
from .guard import guarded, usable

MOVERS = (
    bpy.types.Action,
    bpy.types.Armature,
    bpy.types.Curve,
    bpy.types.Key,
    bpy.types.Lattice,
)
"""Data whose change may move a skin."""
READ = (bpy.types.Mesh, bpy.types.Armature)
"""Data that preparing reads."""


@persistent
@guarded
def softrig_depsgraph_update_post(scene: Any, depsgraph: Any = None) -> None:
    session = usable()
    if session is None or depsgraph is None:
        return
    updates = list(depsgraph.updates)
    if any(is_rig_update(session, update) for update in updates):
        watch.rig_changed(session, scene)
    for data in [update.id.original for update in updates if is_data_update(session, update)]:
        watch.data_changed(session, data)
    echoes.forget(session)
    objects = [update.id for update in updates if isinstance(update.id, bpy.types.Object)]
    if any(watch.is_stranger(session, ob) for ob in objects):
        session.rescan = True
    for ob in objects:
        seen.note_update(session, ob)
    if not bpy.app.background and threading.current_thread() is threading.main_thread():
        for ob in objects:
            watch.dials_turned(session, scene, ob)
        redraw_views(session)
        timer.hurry()


def note_pending(session: Session, scene: Any) -> None:
    """What a script changed and did not let Blender evaluate: a new frame would swallow the news.

    What handlers of others move before every frame is no news: it is compared. Keys are.
    """
    others = readers.do_others_come_first()
    for layer in scene.view_layers:
        updates = list(layer.depsgraph.updates) if layer.depsgraph is not None else []
        if others:
            updates = [u for u in updates if isinstance(u.id, bpy.types.Action)]
        if any(is_rig_update(session, u) or is_data_update(session, u) for u in updates):
            layer.update()  # Blender tells of it through the doors


def note_frame(session: Any, depsgraph: Any) -> None:
    """Of the artist's scene: what a frame has evaluated, Blender tells nowhere else.

    In background alone; where there is a window, what changes is evaluated before the next frame.
    Meshes with shape keys are others at each frame.
    """
    if bpy.app.background:
        meshes = [u for u in depsgraph.updates if isinstance(u.id, bpy.types.Mesh)]
        for update in meshes:
            if update.id.shape_keys is None and is_data_update(session, update):
                watch.data_changed(session, update.id.original)
    echoes.forget(session)


@guarded
def dial_turns(uuid: str, at_once: bool) -> None:
    """Called by Blender for the property itself, in whatever thread sets it."""
    session = usable()
    if session is not None and threading.current_thread() is threading.main_thread():
        watch.dial_turns(session, uuid, at_once and not bpy.app.background)


def is_data_update(session: Any, update: Any) -> bool:
    """A mesh or an armature that preparing may have read."""
    if not update.is_updated_geometry or not isinstance(update.id, READ):
        return False
    return isinstance(update.id, bpy.types.Armature) or not echoes.is_echo(session, update.id)


def is_rig_update(session: Any, update: Any) -> bool:
    """Keys, poses or places of objects; not the points of meshes, which we write ourselves.

    Removing our private scene tags every object, but neither its transform nor its geometry.
    """
    identity = update.id
    if isinstance(identity, bpy.types.Object):
        posed = identity.type == "ARMATURE" and update.is_updated_geometry
        moved = update.is_updated_transform and not echoes.is_echo(session, identity)
        return moved or posed
    return isinstance(identity, MOVERS) and not echoes.is_echo(session, identity)
