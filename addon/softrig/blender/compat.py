# SPDX-License-Identifier: GPL-3.0-or-later
"""Every difference between the versions of Blender that we know: 3.4, 4.2 and later, 5.x."""

from typing import Any

import bpy
import numpy as np

from ..native.arrays import FloatArray

HAS_INTERFACE = bpy.app.version >= (4, 0, 0)
HAS_RNA_INPUTS = bpy.app.version >= (5, 2, 0)
SWITCHES_SAFELY = bpy.app.version >= (4, 0, 0)
HAS_PROGRESS = hasattr(bpy.types.UILayout, "progress")
HAS_SLOTS = bpy.app.version >= (4, 4, 0)
NAMED = {"COLLECTION": bpy.types.Collection, "OBJECT": bpy.types.Object}


def may_record_in_handler(last_scene: str, scene: Any) -> bool:
    """3.4 crashes where another scene comes and goes while a window switches to this one.

    A handler cannot see that; so there it records for no scene at its first frame in a row.
    """
    return SWITCHES_SAFELY or last_scene in ("", scene.name)


def remove_scene(scene: Any) -> None:
    """3.4 asks the context's window whether it shows the scene, and dies where there is none.

    There is none after a timer, ours or anybody's, has loaded a file, until Blender draws again.
    """
    windows = bpy.context.window_manager.windows
    if bpy.context.window is None and len(windows):
        with bpy.context.temp_override(window=windows[0]):
            bpy.data.scenes.remove(scene)
    else:
        bpy.data.scenes.remove(scene)


def add_socket(tree: Any, name: str, kind: str, output: bool = False) -> Any:
    """A socket of a node group; `kind` is the name of a plain socket type."""
    if HAS_INTERFACE:
        side = "OUTPUT" if output else "INPUT"
        return tree.interface.new_socket(name, in_out=side, socket_type=kind)
    return (tree.outputs if output else tree.inputs).new(kind, name)


def add_factor_socket(tree: Any, name: str, maximum: float) -> Any:
    """A float from 0 to `maximum` that is drawn as a slider; its default is 1."""
    if HAS_INTERFACE:
        socket = add_socket(tree, name, "NodeSocketFloat")
        socket.subtype = "FACTOR"
    else:
        socket = add_socket(tree, name, "NodeSocketFloatFactor")
    socket.min_value, socket.max_value, socket.default_value = 0.0, maximum, 1.0
    return socket


def input_identifier(tree: Any, name: str) -> str | None:
    """What a modifier calls the group's input of that name."""
    if not HAS_INTERFACE:
        socket = tree.inputs.get(name)
        return socket.identifier if socket else None
    item = tree.interface.items_tree.get(name)  # several times a frame: no walk over all
    is_input = item is not None and item.item_type == "SOCKET" and item.in_out == "INPUT"
    return item.identifier if is_input else None


def get_input(modifier: Any, name: str) -> Any:
    identifier = input_identifier(modifier.node_group, name)
    if identifier is None:
        return None
    if HAS_RNA_INPUTS:
        return getattr(modifier.properties.inputs, identifier).value
    return modifier.get(identifier)


def set_input(modifier: Any, name: str, value: Any) -> None:
    identifier = input_identifier(modifier.node_group, name)
    if HAS_RNA_INPUTS:
        getattr(modifier.properties.inputs, identifier).value = value
    else:
        modifier[identifier] = value
    modifier.id_data.update_tag()


def list_named(modifier: Any, kind: str) -> list[Any]:
    """Of this kind ("COLLECTION", "OBJECT"): what a node group is handed, and what it or one within
    it names itself.
    """
    if modifier.node_group is None:
        return []
    return _handed(modifier, NAMED[kind]) + _named(modifier.node_group, kind, set())


def _named(tree: Any, kind: str, met: set[Any]) -> list[Any]:
    """Of all sockets that nothing is plugged into."""
    met.add(tree)
    found = []
    for node in tree.nodes:
        sockets = [s for s in node.inputs if s.type == kind and not s.is_linked]
        found += [s.default_value for s in sockets if s.default_value is not None]
        inner = getattr(node, "node_tree", None)
        if inner is not None and inner not in met:
            found += _named(inner, kind, met)
    return found


def _handed(modifier: Any, kind: type) -> list[Any]:
    if HAS_RNA_INPUTS:
        inputs = modifier.properties.inputs
        names = [p.identifier for p in inputs.bl_rna.properties if p.identifier != "rna_type"]
        values = [getattr(getattr(inputs, name), "value", None) for name in names]
    else:
        values = list(modifier.values())
    return [value for value in values if isinstance(value, kind)]


def list_composited(scene: Any) -> list[Any]:
    """The scenes whose layers its compositor takes, each once."""
    if hasattr(scene, "compositing_node_group"):
        tree = scene.compositing_node_group
    else:
        tree = scene.node_tree if scene.use_nodes else None
    if tree is None or not scene.render.use_compositing:
        return []
    taken = [n.scene for n in tree.nodes if n.type == "R_LAYERS" and not n.mute]
    return [other for other in dict.fromkeys(taken) if other is not None]


def set_input_attribute(modifier: Any, name: str, attribute: str) -> None:
    """Reads the input from a vertex group or attribute; an empty name goes back to the number."""
    identifier = input_identifier(modifier.node_group, name)
    if HAS_RNA_INPUTS:
        socket = getattr(modifier.properties.inputs, identifier)
        socket.type = "ATTRIBUTE" if attribute else "VALUE"
        socket.attribute_name = attribute
    else:
        flag = bool(attribute) if HAS_INTERFACE else int(bool(attribute))
        modifier[f"{identifier}_use_attribute"] = flag
        modifier[f"{identifier}_attribute_name"] = attribute
    modifier.id_data.update_tag()


def draw_input(layout: Any, modifier: Any, name: str, text: str) -> None:
    identifier = input_identifier(modifier.node_group, name)
    if identifier is None:
        return
    if HAS_RNA_INPUTS:
        layout.prop(getattr(modifier.properties.inputs, identifier), "value", text=text)
    else:
        layout.prop(modifier, f'["{identifier}"]', text=text, slider=True)


def draw_progress(layout: Any, owner: Any, attribute: str, text: str) -> None:
    """A bar; in 3.4, which has none, a slider that cannot be dragged and shows the number."""
    if HAS_PROGRESS:
        layout.progress(factor=getattr(owner, attribute), text=text)
        return
    row = layout.row()
    row.enabled = False
    row.prop(owner, attribute, text=text.split(",")[0], slider=True)


def write_positions(mesh: Any, positions: FloatArray) -> None:
    """One bulk copy of 3 floats a vertex, and the tag that 3.4 does not set by itself."""
    if HAS_INTERFACE:
        mesh.attributes["position"].data.foreach_set("vector", positions)
    else:
        mesh.vertices.foreach_set("co", positions)
    mesh.update_tag()


def read_positions(mesh: Any) -> FloatArray:
    positions = np.empty(3 * len(mesh.vertices), np.float32)
    if HAS_INTERFACE:
        mesh.attributes["position"].data.foreach_get("vector", positions)
    else:
        mesh.vertices.foreach_get("co", positions)
    return positions


def write_bytes(owner: Any, name: str, data: bytes) -> None:
    """A custom property of bytes. Written over, 4.5 and 5.2 cut them at the first zero."""
    if name in owner:
        del owner[name]
    owner[name] = data


def move_modifier(ob: Any, modifier: Any, index: int) -> None:
    source = ob.modifiers.find(modifier.name)
    if hasattr(ob.modifiers, "move"):
        ob.modifiers.move(source, index)
    elif source != index:
        with bpy.context.temp_override(object=ob, active_object=ob):
            bpy.ops.object.modifier_move_to_index(modifier=modifier.name, index=index)


def write_key(key: Any, positions: FloatArray) -> None:
    """One bulk copy into a shape key; the fast way is not in 3.4."""
    points = key.points if hasattr(key, "points") else key.data
    points.foreach_set("co", positions)


def read_key(key: Any) -> FloatArray:
    points = key.points if hasattr(key, "points") else key.data
    positions = np.empty(3 * len(points), np.float32)
    points.foreach_get("co", positions)
    return positions


def remove_mesh(mesh: Any) -> None:
    """With its shape keys."""
    keys = mesh.shape_keys
    bpy.data.batch_remove([mesh] if keys is None else [mesh, keys])


def clear_keys(ob: Any) -> None:
    """All shape keys; 3.4 and 4.5 let go of their data-block, but leave it in the file."""
    keys = ob.data.shape_keys
    if keys is None:
        return
    place = keys.as_pointer()
    keys.animation_data_clear()
    ob.shape_key_clear()
    left = [other for other in bpy.data.shape_keys if other.as_pointer() == place]
    if left:
        bpy.data.batch_remove(left)


def can_export(kind: str) -> bool:
    """Whether this Blender was built with Alembic or USD; the operator is always there."""
    return bool(getattr(getattr(bpy.app, kind.lower(), None), "supported", False))
