# SPDX-License-Identifier: GPL-3.0-or-later
"""Before the first frame of a render: who is there, live, and whole; else a sentence for each.

The main thread does the work itself: in background, and where a script of the window renders. Else
Blender calls us in the render's thread, which must not touch its data: there the heartbeat of the
main thread goes on working while we wait.
"""

import sys
import time
from collections.abc import Iterable
from typing import Any

import bpy

from ..model.lifecycle import Phase
from ..model.session import Entry, Session
from . import (
    bake_keys,
    bake_names,
    carrier,
    compat,
    examine,
    followers,
    graph,
    linked,
    objects,
    seen,
    takes,
    tape,
    watch,
)

LONGEST_WAIT_SECONDS = 3600.0
LOOK_SECONDS = 0.02
ANIMATION, SINGLE = {"-a", "--render-anim"}, {"-f", "--render-frame"}
LATE = "the shot ends with {}. Let the scene's frames reach as far."


def characters_to_show(scene: Any) -> list[Any]:
    """Of this scene, those that the render would move live; hidden ones are not missed."""
    rendered = seen.rendered_in(scene)
    return [
        ob
        for ob in objects.all_characters()
        if any(is_rendered(part, rendered) for part in (ob, *followers.followers_of(ob)))
        and not bake_names.has_ours(ob.data)
    ]


def _rendered_with_keys(scene: Any) -> list[Any]:
    """Those that baked shape keys move."""
    keyed = [ob for ob in objects.all_characters() if bake_names.has_ours(ob.data)]
    rendered = seen.rendered_in(scene) if keyed else set()
    return [ob for ob in keyed if ob in rendered]


def is_rendered(ob: Any, rendered: set[Any]) -> bool:
    return ob in rendered and carrier.find_modifier(ob).show_render


def make_ready(session: Session, scene: Any) -> list[str]:
    """Prepares what was just loaded, reads what a script changed, simulates the whole range."""
    if session.api is not None:
        for shown in seen.scenes_rendered(scene):
            watch.ensure_scene(session, shown, record_again=True)
        for ob in characters_to_show(scene):
            entry = session.entries.get(ob.softrig.uuid)
            if entry is not None and entry.shot is not None and carrier.find_bake(ob) is None:
                wait_for_frames(session, entry)
    return find_problems(session, scene)


def wait_for_frames(session: Session, entry: Entry) -> None:
    end = session.now() + LONGEST_WAIT_SECONDS
    while session.now() < end:
        status = session.refresh(entry)
        if status.ready >= status.recorded:
            return
        session.api.wait_frame(entry.shot, entry.frames.first + status.recorded - 1, LOOK_SECONDS)


def find_problems(session: Session, scene: Any) -> list[str]:
    """Why a frame would not show what it should, a sentence each."""
    found, rendered = find_guests_problems(scene), seen.rendered_in(scene)
    for ob in characters_to_show(scene):
        problem = find_problem(session, ob)
        if problem:
            found.append(f"{ob.name}: {problem}")
        found += [
            f"{rider.name}: {find_follower_problem(rider, ob)}"
            for rider in followers.followers_of(ob)
            if is_rendered(rider, rendered) and find_follower_problem(rider, ob)
        ]
    return found


def find_guests_problems(scene: Any) -> list[str]:
    """Of those that come from other files."""
    problems = linked.find_problems(_rendered_guests(scene))
    return [f"{name}: {problem}" for name, problem in problems.items()]


def _rendered_guests(scene: Any) -> list[Any]:
    rendered = seen.rendered_in(scene)
    guests = [ob for ob in linked.list_guests() if ob in rendered]
    return [ob for ob in guests if linked.find_ours(ob).show_render]


def foresee_frames(scene: Any) -> list[int]:
    """Frames that a render is sure to show, as far as anything tells before its first one.

    The command line tells of the scene's range. In the window it may be the range or the current
    frame: both have this one, where it is within.
    """
    first, current, last = scene.frame_start, scene.frame_current, scene.frame_end
    if not bpy.app.background:
        return [current] if first <= current <= last else []
    given = sys.argv[: sys.argv.index("--")] if "--" in sys.argv else sys.argv
    if ANIMATION.isdisjoint(given) or not SINGLE.isdisjoint(given):
        return []
    return [first, last - (last - first) % scene.frame_step]  # who has them has those between


def find_missed(scene: Any, frames: Iterable[int]) -> list[str]:
    """Who would stand still in the first of these frames that no shot or bake of theirs has."""
    found = []
    guests = [ob for ob in _rendered_guests(scene) if linked.is_baked(ob)]
    for ob in (*characters_to_show(scene), *guests, *_rendered_with_keys(scene)):
        missed = ((frame, _find_missed(ob, scene, frame)) for frame in frames)
        frame, problem = next((miss for miss in missed if miss[1]), (0, ""))
        if problem:
            found.append(f"{ob.name}: frame {frame} is not there, {problem}")
    return found


def _find_missed(ob: Any, scene: Any, frame: int) -> str:
    if bake_names.has_ours(ob.data):
        return bake_keys.find_missed(ob, frame)
    holder = compat.get_input(linked.find_ours(ob) or carrier.find_modifier(ob), graph.CARRIER)
    frames = objects.shot_frames(ob, objects.scene_of(ob, scene.name) or scene)
    if holder is not None and carrier.list_bakes(holder):
        return takes.find_missed(holder, frames.first, frame)
    return LATE.format(frames.last) if frame > frames.last else ""


def find_follower_problem(rider: Any, leader: Any) -> str:
    stuck = followers.problem(rider)
    if stuck or carrier.find_bake(leader) is None:
        return stuck
    if carrier.find_bake(rider) is None:
        return "it is not in the bake; bake again."
    return takes.find_problem(rider)


def find_problem(session: Session, ob: Any) -> str:
    blocked = carrier.find_problem(ob)
    if blocked:
        return blocked
    if carrier.find_bake(ob) is not None:
        return takes.find_problem(ob)
    lost = examine.find_lost_paint(ob) or tape.find_unposed(ob)
    if lost:
        return lost
    if session.api is None:
        return f"{session.problem} A bake plays without the library."
    entry = session.entries.get(ob.softrig.uuid)
    if entry is None:
        return "it is not prepared."
    if entry.state.is_refused:
        return entry.state.message
    if entry.elsewhere:
        return entry.elsewhere
    status = entry.shot_status
    if entry.state.phase is not Phase.LIVE or status is None or status.ready < status.frame_count:
        return entry.notice or "not all frames are recorded and simulated."
    if status.message:
        return f"the simulation stopped, the pose shows from there on: {status.message}"
    return ""


def wait_until_ready(session: Session, scene: Any) -> list[str]:
    """In the render's thread: the main thread's heartbeat does what is due meanwhile."""
    session.render_met = session.api is None
    session.render_waits = True
    try:
        end = session.now() + LONGEST_WAIT_SECONDS
        while session.now() < end and is_coming(session, scene):
            time.sleep(LOOK_SECONDS)
    finally:
        session.render_waits = False
    return find_problems(session, scene)


def is_coming(session: Session, scene: Any) -> bool:
    """Somebody is not ready who will be, if the heartbeat goes on."""
    if not session.render_met:
        return True
    for ob in characters_to_show(scene):
        entry = session.entries.get(ob.softrig.uuid)
        if carrier.find_bake(ob) is not None or entry is None or entry.state.is_refused:
            continue
        status = entry.shot_status
        whole = status is not None and status.ready == status.frame_count
        if entry.state.stale or entry.state.phase is not Phase.LIVE or not whole:
            if not entry.steps_scene:
                return True
    return False
