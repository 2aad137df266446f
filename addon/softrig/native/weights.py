# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights of a skin that has none yet: the library's calls for them, and what goes in and out."""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import bindings
from .arrays import FloatArray, IntArray, float_pointer, int_pointer
from .errors import sentence
from .inputs import InsideInput, JobStatus, set_inside


@dataclass(frozen=True)
class WeightsInput:
    """Arrays as `srWeightsDef` wants them; see native/include/softrig/weights.h."""

    skin_positions: FloatArray
    skin_triangles: IntArray
    points: FloatArray
    point_columns: IntArray
    elements: IntArray
    column_count: int
    mirror_columns: IntArray | None
    target_node_count: int
    inside: InsideInput = InsideInput()

    @property
    def vertex_count(self) -> int:
        return len(self.skin_positions) // 3


class WeightsCalls:
    """Part of the Api."""

    _lib: Any

    def start_weights(self, data: WeightsInput) -> Any:
        definition = self._lib.srDefaultWeightsDef()
        definition.skinPositions = float_pointer(data.skin_positions)
        definition.skinVertexCount = data.vertex_count
        definition.skinTriangles = int_pointer(data.skin_triangles)
        definition.skinTriangleCount = len(data.skin_triangles) // 3
        definition.points = float_pointer(data.points)
        definition.pointColumns = int_pointer(data.point_columns)
        definition.pointCount = len(data.points) // 3
        definition.elements = int_pointer(data.elements)
        definition.elementCount = len(data.elements) // 3
        definition.columnCount = data.column_count
        definition.mirrorColumns = int_pointer(data.mirror_columns)
        definition.targetNodeCount = data.target_node_count
        set_inside(definition, data.inside)
        weights = bindings.WeightsId()
        self._lib.srStartWeights(ctypes.byref(definition), ctypes.byref(weights))
        return weights

    def weights_status(self, weights: Any) -> JobStatus:
        status = bindings.JobStatus()
        self._lib.srWeights_GetStatus(weights, ctypes.byref(status))
        return JobStatus(
            running=status.phase == bindings.Phase.RUNNING,
            failed=status.phase == bindings.Phase.FAILED,
            result=status.result,
            progress=status.progress,
            message=sentence(status.result, status.message.decode("utf-8", "replace")),
        )

    def weights_report(self, weights: Any) -> dict[str, float]:
        report = bindings.WeightsReport()
        self._lib.srWeights_GetReport(weights, ctypes.byref(report))
        return {name: getattr(report, name) for name, *_ in report._fields_}

    def read_weights(self, weights: Any, vertex_count: int, column_count: int) -> FloatArray:
        """(vertices, columns)"""
        values = np.zeros((vertex_count, column_count), np.float32)
        self._lib.srWeights_Read(weights, float_pointer(values), vertex_count, column_count)
        return values

    def destroy_weights(self, weights: Any) -> None:
        self._lib.srDestroyWeights(weights)
