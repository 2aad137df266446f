# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the facts about a character that may be traps. Cheap: no vertices, no evaluation."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..model.baking import with_margin
from ..model.diagnostics import Facts, find_traps
from ..model.maps import KINDS
from ..model.rig import RefusalError
from ..model.session import Entry, Session
from . import (
    actions,
    bake_keys,
    bake_names,
    carrier,
    followed,
    followers,
    generators,
    objects,
    takes,
    tape,
)
from .bake_dials import frames_to_bake

FLAT = 1e-6


def examine(session: Session, ob: Any, scene: Any) -> None:
    """Tells the session what the panel has to say about this character."""
    entry = session.entries.get(ob.softrig.uuid)
    session.findings[ob.softrig.uuid] = find_traps(read_facts(session, entry, ob, scene))


def read_facts(session: Session, entry: Entry | None, ob: Any, scene: Any) -> Facts:
    return Facts(
        **_stack_facts(ob),
        **_rig_facts(entry, ob),
        **_shape_facts(entry, ob),
        **_bake_facts(session, entry, ob, scene),
        **_follower_facts(ob),
    )


def _follower_facts(ob: Any) -> dict[str, Any]:
    found, baked = followers.followers_of(ob), carrier.find_bake(ob) is not None
    stuck = find_stuck(ob)
    return {
        "stuck_follower": stuck.name if stuck is not None else "",
        "stuck_because": followers.problem(stuck) if stuck is not None else "",
        "unbaked_follower": next(
            (rider.name for rider in found if baked and carrier.find_bake(rider) is None), ""
        ),
    }


def find_stuck(ob: Any) -> Any:
    """The first follower that cannot follow, or None."""
    return next((rider for rider in followers.followers_of(ob) if followers.problem(rider)), None)


def _stack_facts(ob: Any) -> dict[str, Any]:
    ours = carrier.find_modifier(ob)
    names = [modifier.name for modifier in ob.modifiers]
    place = names.index(ours.name) if ours is not None else len(names)
    before, after = ob.modifiers[:place], ob.modifiers[place + 1 :]
    movable, beyond = "", ""
    is_leading = not carrier.find_blocker(ob)
    for modifier in after:
        is_leading = is_leading and carrier.passes(ob, modifier)
        if modifier.type == "ARMATURE" and carrier.is_on(modifier):
            movable, beyond = (modifier.name, beyond) if is_leading else (movable, modifier.name)
    made = carrier.list_generators(ob)
    plays = ours is not None and not bake_names.has_ours(ob.data)
    armatures = [m for m in (*before, *after) if m.type == "ARMATURE" and m.object is not None]
    return {
        "blocker": carrier.find_blocker(ob),
        "uneven": generators.find_uneven(ob, made),
        "keyed": generators.find_keyed(ob, made) if made else "",
        "is_stack_changed": carrier.is_stack_changed(ob),
        "multires": next((m.name for m in ob.modifiers if m.type == "MULTIRES"), ""),
        "armature_after": movable,
        "nodes_after": _find_unfelt(ob, after),
        "armature_beyond": beyond,
        "half_armature": next((m.name for m in armatures if is_half(m)), ""),
        "off_in_viewport": plays and not ours.show_viewport and ours.show_render,
        "off_in_render": plays and not ours.show_render,
    }


def _find_unfelt(ob: Any, after: Sequence[Any]) -> str:
    """What may move a skin that nothing before us does."""
    moved = tape.find_armatures(ob) or followed.list_deformers(ob)
    if carrier.find_modifier(ob) is None or moved:
        return ""
    names = (m.name for m in after if m.type == "NODES" and carrier.is_on(m))
    return next((name for name in names if not carrier.is_ours(ob.modifiers[name])), "")


def is_half(modifier: Any) -> bool:
    return modifier.show_viewport != modifier.show_render


def _rig_facts(entry: Entry | None, ob: Any) -> dict[str, Any]:
    armatures = tape.find_armatures(ob)
    steps = entry is not None and entry.steps_scene
    status = entry.shot_status if entry is not None else None
    return {
        "resting": next((a.name for a in armatures if a.data.pose_position == "REST"), ""),
        "hidden": next((a.name for a in armatures if a.hide_viewport and steps), ""),
        "limited": status.limited_nodes if status is not None else 0,
        "trouble": status.message if status is not None else "",
    }


def _shape_facts(entry: Entry | None, ob: Any) -> dict[str, Any]:
    holder = carrier.find_carrier(ob)
    scale = [abs(part) for part in ob.matrix_world.to_scale()]
    sides = [
        max(corner[axis] for corner in ob.bound_box) - min(corner[axis] for corner in ob.bound_box)
        for axis in range(3)
    ]
    lost = find_lost_map(ob)
    return {
        "vertices": takes.count_points(ob),
        "prepared_vertices": len(holder.data.vertices) if holder is not None else 0,
        "editing": ob.data.is_editmode,
        "unweighted": _count_unweighted(entry, ob),
        "is_flat": min(scale) < FLAT,
        "changes_proportions": entry is not None and entry.changes_proportions,
        "size": max(side * part for side, part in zip(sides, scale, strict=True)),
        "gravity": ob.softrig.gravity_factor,
        "is_gravity_keyed": "softrig.gravity_factor" in actions.animated_paths(ob),
        "lost_map": lost.title(),
        "lost_group": getattr(ob.softrig, f"map_{lost}") if lost else "",
    }


def _count_unweighted(entry: Entry | None, ob: Any) -> int:
    """None are missed where there is no armature, or where something else moves the skin too."""
    if entry is None or not tape.find_armatures(ob) or (entry.build and entry.build.deformers):
        return 0
    return int(entry.report.get("unweightedVertexCount", 0))


def find_lost_map(ob: Any) -> str:
    """The first kind of map whose vertex group is not there."""
    for kind in KINDS:
        name = getattr(ob.softrig, f"map_{kind}")
        if name and name not in ob.vertex_groups:
            return kind
    return ""


def find_lost_paint(ob: Any) -> str:
    """A sentence: what the artist painted for it is not used. Empty where nothing is lost."""
    kind = find_lost_map(ob)
    if not kind:
        return ""
    group = getattr(ob.softrig, f"map_{kind}")
    return (
        f'the map {kind.title()} names the vertex group "{group}", which is not there. Name the '
        f"group so again, or choose another for the map, or none."
    )


def _bake_facts(session: Session, entry: Entry | None, ob: Any, scene: Any) -> dict[str, Any]:
    bakes = takes.bakes_of(ob)
    made_of = session.bake_source(entry) if entry is not None else ""
    if bake_names.has_ours(ob.data):
        return {"keys_of": bake_keys.made_of(ob), "made_of": made_of}
    if not bakes:
        return {}
    bake = next((m for m in reversed(bakes) if m.show_viewport), bakes[0])
    signs = [takes.made_of(modifier) for modifier in bakes]
    whole = frames = objects.shot_frames(ob, scene)
    with suppress(RefusalError):  # the next bake tells
        frames = frames_to_bake(ob, scene, whole)
    frames = with_margin(frames, whole, ob.softrig.loop)
    baked = takes.baked_frames(bake)
    return {
        "is_baked": True,
        "bake_fault": takes.find_fault(ob),
        "baked_frames": (baked.first, baked.count) if baked is not None else None,
        "frames": (frames.first, frames.count),
        "baked_subframes": baked.samples - 1 if baked is not None else 0,
        "subframes": frames.samples - 1,
        # a take that is not the newest is kept on purpose: old is a bake when no take is new
        "baked_of": made_of if made_of in signs else takes.made_of(bake),
        "is_rewritten": takes.is_rewritten(bake),
        "made_of": made_of,
    }
