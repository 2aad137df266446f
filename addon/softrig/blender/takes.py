# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes: the bakes of a character, each a Mesh Cache modifier on the carrier, laid over each other.

A later one covers the earlier ones by its influence and, if it has one, by its vertex group; both
are Blender's own properties, so that a mix plays, keys and renders without the add-on.
"""

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..model import point_cache
from ..model.baking import MAIN, file_name
from ..model.point_cache import PointCacheError
from ..model.rig import RefusalError
from ..model.session import Session
from ..native.inputs import FrameRange
from . import carrier, skin
from .carrier import BAKE

BAKED_OF, PRINT_OF = "softrig_baked_of", "softrig_baked_print"
LARGEST_STRETCH = 100.0
LATEST_START = 1048574
"""In its own clock; Blender cuts a later one without a word."""
WEIGHT_STEPS = 65535
"""Painted weights are copied in so many steps: Blender has no bulk write of vertex groups."""


def modifier_name(take: str) -> str:
    return BAKE if take == MAIN else f"{BAKE}.{take}"


def take_of(modifier: Any) -> str:
    """The take that a modifier plays."""
    return modifier.name[len(BAKE) + 1 :] or MAIN


def bakes_of(ob: Any) -> list[Any]:
    """The modifiers of its takes; none when it has no carrier."""
    holder = carrier.find_carrier(ob)
    return carrier.list_bakes(holder) if holder is not None else []


def find(ob: Any, take: str) -> Any:
    return next((m for m in bakes_of(ob) if take_of(m) == take), None)


def default_path(ob: Any, take: str = MAIN) -> str:
    """Beside the file, so that both can be sent away; a temporary folder while it is unsaved."""
    identity = ob.softrig.uuid or ob.softrig.follower_uuid
    blend = bpy.path.clean_name(Path(bpy.data.filepath).stem)
    name = file_name(bpy.path.clean_name(ob.name), identity, take, blend)
    return f"//softrig/{name}" if blend else str(Path(bpy.app.tempdir) / name)


def problem(frames: FrameRange) -> str:
    if abs(frames.first) * frames.samples > LATEST_START:
        return "Blender's Mesh Cache cannot begin so late so finely: take fewer Subframes."
    if frames.stretch * frames.samples <= LARGEST_STRETCH:
        return ""
    if frames.stretch <= LARGEST_STRETCH:
        return "Blender's Mesh Cache plays at most 100 times slower: take fewer Subframes."
    return "Blender's Mesh Cache plays at most 100 times slower: lower Time Remapping, New."


def attach(ob: Any, take: str, path: str, frames: FrameRange) -> Any:
    """Blender's own Mesh Cache plays the file; it needs no add-on. The take alone is shown.

    Its clock is the animation's, after Time Remapping: the scale brings it back to the scene's.
    The points below it are zero: should the file be missing one day, the plain pose shows.
    """
    carrier.clear(ob)
    modifier = find(ob, take)
    if modifier is None:
        holder = carrier.find_carrier(ob)
        modifier = holder.modifiers.new(modifier_name(take), "MESH_CACHE")
        if take_of(modifier) != take:  # Blender cut the name or gave it a number
            holder.modifiers.remove(modifier)
            raise RefusalError(f'No take can be named "{take}" here. Choose another name.')
        show_only(ob, take)
    modifier.cache_format = "PC2"
    modifier.filepath = path
    modifier.frame_start = frames.first * frames.samples
    modifier.frame_scale = frames.stretch * frames.samples
    return modifier


def show_only(ob: Any, take: str) -> None:
    """One take, whole; how the others are mixed is kept for the next time."""
    for modifier in bakes_of(ob):
        modifier.show_viewport = modifier.show_render = take_of(modifier) == take
    carrier.find_carrier(ob).update_tag()


def mix(session: Session, ob: Any, take: str, group_name: str, influence: float) -> Any:
    """Lays a take over those below it, where the skin's vertex group is painted or everywhere."""
    modifier = find(ob, take)
    if modifier is None:
        raise RefusalError(f'There is no take "{take}".')
    if group_name:
        copy_group(session, ob, group_name)
    modifier.vertex_group = group_name
    modifier.factor = influence
    modifier.show_viewport = modifier.show_render = True
    carrier.find_carrier(ob).update_tag()
    return modifier


def copy_group(session: Session, ob: Any, name: str) -> None:
    """The skin's painted weights onto the carrier, whose modifiers can only read its own."""
    source = ob.vertex_groups.get(name)
    if source is None:
        raise RefusalError(f'This mesh has no vertex group "{name}".')
    holder = carrier.find_carrier(ob)
    with skin.rest_mesh(session, ob) as mesh:
        index, weights = source.index, np.zeros(len(mesh.vertices), np.float64)
        for vertex in mesh.vertices:
            for element in vertex.groups:
                if element.group == index:
                    weights[vertex.index] = element.weight
    if len(weights) != len(holder.data.vertices):
        raise RefusalError("The mesh has other vertices than the take. Bake again.")
    old = holder.vertex_groups.get(name)
    if old is not None:
        holder.vertex_groups.remove(old)
    target = holder.vertex_groups.new(name=name)
    steps = np.round(weights * WEIGHT_STEPS).astype(np.int64)
    for step in np.unique(steps[steps > 0]):
        chosen = np.nonzero(steps == step)[0].tolist()
        target.add(chosen, float(step) / WEIGHT_STEPS, "REPLACE")


def remove(ob: Any, take: str) -> None:
    """The file stays on disk."""
    modifier = find(ob, take)
    if modifier is not None:
        modifier.id_data.modifiers.remove(modifier)
    if not bakes_of(ob):
        carrier.clear(ob)


def free(ob: Any) -> None:
    """All takes: back to live."""
    for modifier in bakes_of(ob):
        modifier.id_data.modifiers.remove(modifier)
    carrier.clear(ob)


def count_points(ob: Any) -> int:
    """How many a bake for it has: as many as there are vertices where Softrig stands."""
    holder = carrier.find_carrier(ob)
    made = holder is not None and carrier.list_generators(ob)
    return len(holder.data.vertices if made else ob.data.vertices)


def find_fault(ob: Any) -> str:
    """What is wrong with a point cache that ought to play, behind "the bake"; else empty."""
    holder = carrier.find_carrier(ob)
    return fault_on(holder) if holder is not None else ""


def find_problem(ob: Any) -> str:
    """Why it does not move as it was baked; empty where it does."""
    count = count_points(ob)
    if not carrier.fits(ob, count):
        return f"the mesh has {count} vertices now, other than when it was baked. Bake again."
    fault = find_fault(ob)
    return f"the bake {fault}. Bring it back, or bake again." if fault else ""


def fault_on(holder: Any) -> str:
    """Likewise, of a carrier."""
    for modifier in carrier.list_bakes(holder):
        if modifier.show_viewport or modifier.show_render:
            fault = point_cache.find_fault(path_of(modifier), len(holder.data.vertices))
            if fault:
                return fault
    return ""


def find_missed(holder: Any, first: int, frame: int) -> str:
    """Why a take has no row for this frame of a shot from `first` on; it would stand still. What
    comes before the shot shows its first frame."""
    for modifier in carrier.list_bakes(holder):
        frames = baked_frames(modifier) if modifier.show_render else None
        if frames is not None and (first <= frame < frames.first or frame > frames.last):
            return f"the bake has frames {frames.first} to {frames.last}. Bake this one too."
    return ""


def sign(modifier: Any, source: str = "") -> None:
    """What it was made of, if that is known, and which file it plays, stays on the carrier."""
    holder, take = modifier.id_data, take_of(modifier)
    if holder.library is None:
        holder[f"{BAKED_OF}_{take}"] = source
        holder[f"{PRINT_OF}_{take}"] = point_cache.read_print(path_of(modifier))


def made_of(modifier: Any) -> str:
    """Empty where nobody knows."""
    return modifier.id_data.get(f"{BAKED_OF}_{take_of(modifier)}", "")


def is_rewritten(modifier: Any) -> bool:
    """Its file is another than was put on: baked again, that undone or unsaved, or elsewhere."""
    signed = modifier.id_data.get(f"{PRINT_OF}_{take_of(modifier)}", "")
    return signed not in ("", point_cache.read_print(path_of(modifier)))


def path_of(modifier: Any) -> Path:
    return Path(bpy.path.abspath(modifier.filepath, library=modifier.id_data.library))


def baked_frames(modifier: Any) -> FrameRange | None:
    """Those in its file; None where that cannot be read."""
    try:
        size = point_cache.read_size(path_of(modifier))
    except PointCacheError:
        return None
    first = round(modifier.frame_start / size.samples)
    return FrameRange(first, size.frames, 0.0, samples=size.samples)
