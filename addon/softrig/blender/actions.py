# SPDX-License-Identifier: GPL-3.0-or-later
"""What plays on a data-block: actions, with slots from 4.4 on, their F-curves, drivers, strips."""

from typing import Any

import bpy
import numpy as np

from .compat import HAS_SLOTS

SHARED = "softrig_shared"
"""On an action: the one that it is a copy of, which others play."""


def animated_paths(identity: Any) -> list[str]:
    """Data paths that have keys in the action, or drivers."""
    data = identity.animation_data
    if data is None:
        return []
    return [curve.data_path for curve in (*_curves(data), *data.drivers)]


def describe_animation(identity: Any) -> Any:
    """Which action plays, and how many drivers and tracks; None where there is nothing."""
    data = identity.animation_data
    if data is None:
        return None
    action, slot = data.action, getattr(data, "action_slot", None)
    names = action.name if action is not None else "", slot.identifier if slot is not None else ""
    return *names, len(data.drivers), len(data.nla_tracks)


def _curves(data: Any) -> list[Any]:
    action = data.action
    if action is None:
        return []
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    bags = [
        strip.channelbag(data.action_slot)
        for layer in action.layers
        if data.action_slot is not None
        for strip in layer.strips
    ]
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def find_curves(owner: Any) -> Any:
    """The F-curves of a data-block; None when it has none."""
    data = owner.animation_data
    if data is None or data.action is None:
        return None
    if not HAS_SLOTS:
        return data.action.fcurves
    for layer in data.action.layers if data.action_slot is not None else ():
        for strip in layer.strips:
            bag = strip.channelbag(data.action_slot)
            if bag is not None:
                return bag.fcurves
    return None


def ensure_curves(owner: Any, name: str) -> Any:
    """As `find_curves`, with an action where there is none; what is there stays."""
    curves = find_curves(owner)
    if curves is not None:
        return curves
    data = owner.animation_data or owner.animation_data_create()
    action = data.action or bpy.data.actions.new(name)
    if not HAS_SLOTS:
        data.action = action
        return action.fcurves
    slot = data.action_slot or action.slots.new(id_type=owner.id_type, name=owner.name)
    data.action = action
    data.action_slot = slot
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True).fcurves


def leave_shared_curves(owner: Any) -> None:
    """Where others are animated by the same curves, from now on by a copy of its own."""
    data = owner.animation_data
    action = data.action if data is not None else None
    if action is None or not _is_shared(data):
        return
    slot = data.action_slot.identifier if HAS_SLOTS else ""
    own = action.copy()
    own[SHARED] = action
    _take_action(data, own, slot)


def return_to_shared_curves(owner: Any) -> None:
    """Those that it left, unless its own were edited since."""
    data = owner.animation_data
    own = data.action if data is not None else None
    if own is None or own.get(SHARED) is None:
        return
    left, slot = own[SHARED], data.action_slot.identifier if HAS_SLOTS else ""
    before = _list_keys(find_curves(owner))
    _take_action(data, left, slot)
    if before is None or before != _list_keys(find_curves(owner)):
        _take_action(data, own, slot)
        del own[SHARED]
    elif own.users == 0:
        bpy.data.actions.remove(own)


def _is_shared(data: Any) -> bool:
    """Somebody else plays these curves, or left them and may return."""
    action = data.action
    if any(other.get(SHARED) == action for other in bpy.data.actions):
        return True
    if HAS_SLOTS:
        return data.action_slot is not None and len(data.action_slot.users()) > 1
    return bool(action.users - action.use_fake_user > 1)


def _take_action(data: Any, action: Any, slot: str) -> None:
    data.action = action
    if HAS_SLOTS:
        data.action_slot = action.slots.get(slot)


def _list_keys(curves: Any) -> list[Any] | None:
    """What two lists of curves are compared by; None where that does not tell all."""
    if curves is None or any(curve.modifiers for curve in curves):
        return None
    return [
        (
            (curve.data_path, curve.array_index, curve.extrapolation, curve.mute),
            [
                (*key.co, *key.handle_left, *key.handle_right, key.interpolation, key.easing)
                for key in curve.keyframe_points
            ],
        )
        for curve in curves
    ]


def write_curve(curves: Any, path: str, times: Any, values: Any) -> None:
    """A new curve with straight lines between its keys; it holds its ends."""
    curve = curves.new(path)
    curve.keyframe_points.add(len(times))
    pairs = np.column_stack([times, values]).astype(np.float32).reshape(-1)
    curve.keyframe_points.foreach_set("co", pairs)
    linear = curve.keyframe_points[0].bl_rna.properties["interpolation"].enum_items["LINEAR"].value
    curve.keyframe_points.foreach_set("interpolation", [linear] * len(times))
    curve.update()


def remove_curves(owner: Any, paths: set[str]) -> None:
    """And the action and the animation itself when nothing is left of them."""
    curves = find_curves(owner)
    chosen = [curve for curve in curves or () if curve.data_path in paths]
    for curve in chosen:
        curves.remove(curve)
    if chosen and len(curves) == 0:
        animation = owner.animation_data
        action, animation.action = animation.action, None
        if not animation.drivers and not animation.nla_tracks:
            owner.animation_data_clear()
        if action.users == 0:
            bpy.data.actions.remove(action)


def forget_animated(owner: Any, starts: tuple[str, ...]) -> None:
    """Keys and drivers of all that begins so. Of curves that others play too, or of another file,
    nothing: there they move nothing.
    """
    data = owner.animation_data
    if data is None:
        return
    for driver in [curve for curve in data.drivers if curve.data_path.startswith(starts)]:
        data.drivers.remove(driver)
    if data.action is not None and data.action.library is None and not _is_shared(data):
        found = {curve.data_path for curve in find_curves(owner) or ()}
        remove_curves(owner, {path for path in found if path.startswith(starts)})
