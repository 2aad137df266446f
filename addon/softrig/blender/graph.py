# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group that adds a carrier's offsets to a skin, by vertex index. All characters share it.

Where an offset is zero the position is not touched at all: adding zero would turn -0 into 0. A
carrier that has another number of points than the skin moves nothing: its offsets are not for it.
"""

from typing import Any

import bpy

from . import compat

NAME = "Softrig"
TAG = "softrig_graph"
VERSION = 2
CARRIER, AMOUNT, MASK = "Carrier", "Amount", "Mask"


def is_our_tree(tree: Any) -> bool:
    return tree is not None and tree.get(TAG) is not None


def ensure_tree() -> Any:
    """The group of this file; made when there is none."""
    for tree in bpy.data.node_groups:
        if tree.get(TAG) == VERSION and tree.library is None:
            return tree
    return _build_tree()


def remove_unused() -> None:
    for tree in [tree for tree in bpy.data.node_groups if is_our_tree(tree)]:
        if tree.users == 0 and tree.library is None:
            bpy.data.node_groups.remove(tree)


def _enabled(sockets: Any, name: str | None = None) -> Any:
    """Nodes list the sockets of all data types; the enabled ones are those in use."""
    return next(s for s in sockets if s.enabled and (name is None or s.name == name))


def _add_sockets(tree: Any) -> None:
    compat.add_socket(tree, "Geometry", "NodeSocketGeometry")
    compat.add_socket(tree, CARRIER, "NodeSocketObject")
    compat.add_factor_socket(tree, AMOUNT, 2.0)
    compat.add_socket(tree, MASK, "NodeSocketFloat").default_value = 1.0
    compat.add_socket(tree, "Geometry", "NodeSocketGeometry", output=True)


def _build_tree() -> Any:
    tree = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    tree[TAG] = VERSION
    _add_sockets(tree)
    nodes, link = tree.nodes, tree.links.new
    source, target = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    offset = _add_offset(tree, source)
    length = nodes.new("FunctionNodeCompare")
    length.data_type, length.mode, length.operation = "VECTOR", "LENGTH", "GREATER_THAN"
    move = nodes.new("GeometryNodeSetPosition")
    link(offset, _enabled(length.inputs))
    link(source.outputs["Geometry"], move.inputs["Geometry"])
    link(length.outputs[0], move.inputs["Selection"])
    link(offset, move.inputs["Offset"])
    link(move.outputs[0], target.inputs[0])
    for column, node in enumerate(nodes):
        node.location = (190.0 * column, 0.0)
    return tree


def _add_offset(tree: Any, source: Any) -> Any:
    """The nodes for: carrier's position at my index, times amount, times mask, if it fits."""
    nodes, link = tree.nodes, tree.links.new
    carrier = nodes.new("GeometryNodeObjectInfo")
    carrier.transform_space = "ORIGINAL"
    position, index = nodes.new("GeometryNodeInputPosition"), nodes.new("GeometryNodeInputIndex")
    sample = nodes.new("GeometryNodeSampleIndex")
    sample.data_type, sample.domain = "FLOAT_VECTOR", "POINT"
    factor, offset = nodes.new("ShaderNodeMath"), nodes.new("ShaderNodeVectorMath")
    factor.operation, offset.operation = "MULTIPLY", "SCALE"
    link(source.outputs[CARRIER], carrier.inputs[0])
    link(_enabled(carrier.outputs, "Geometry"), sample.inputs["Geometry"])
    link(position.outputs[0], _enabled(sample.inputs, "Value"))
    link(index.outputs[0], sample.inputs["Index"])
    link(source.outputs[AMOUNT], factor.inputs[0])
    link(source.outputs[MASK], factor.inputs[1])
    link(_enabled(sample.outputs), offset.inputs[0])
    fits, chosen = _add_fit(tree, source, carrier), nodes.new("ShaderNodeMath")
    chosen.operation = "MULTIPLY"
    link(factor.outputs[0], chosen.inputs[0])
    link(fits, chosen.inputs[1])
    link(chosen.outputs[0], offset.inputs["Scale"])
    return offset.outputs[0]


def _add_fit(tree: Any, source: Any, carrier: Any) -> Any:
    """1 where skin and carrier have as many points, else 0."""
    same = tree.nodes.new("ShaderNodeMath")
    same.operation = "COMPARE"
    same.inputs[2].default_value = 0.5
    for index, geometry in enumerate(
        (source.outputs["Geometry"], _enabled(carrier.outputs, "Geometry"))
    ):
        size = tree.nodes.new("GeometryNodeAttributeDomainSize")
        size.component = "MESH"
        tree.links.new(geometry, size.inputs[0])
        tree.links.new(size.outputs["Point Count"], same.inputs[index])
    return same.outputs[0]
