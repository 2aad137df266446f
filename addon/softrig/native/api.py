# SPDX-License-Identifier: GPL-3.0-or-later
"""The library as Python sees it: plain data in, plain data out, ids as opaque values."""

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np

from . import bindings
from .arrays import FloatArray, IntArray, float_pointer, int_pointer
from .errors import NotReadyError, error_from_result, sentence
from .inputs import (
    CharacterInput,
    FrameRange,
    JobStatus,
    MapsInput,
    ShotSettings,
    ShotStatus,
    set_inside,
)
from .library import find_helper, find_library, load_library
from .weights import WeightsCalls


class Api(WeightsCalls):
    """Calls of one loaded library. A test hands the session another object with these methods."""

    def __init__(self, path: Path | None = None) -> None:
        self._lib = load_library(path or find_library())
        self._helper = find_helper(self._lib)

    def version(self) -> str:
        version = self._lib.srGetVersion()
        return f"{version.major}.{version.minor}.{version.patch}"

    def byte_count(self) -> int:
        return self._lib.srGetByteCount()

    def shutdown(self) -> int:
        """Destroys what is left and joins all threads; how much there was."""
        return self._lib.srShutdown()

    def create_character(self, data: CharacterInput) -> Any:
        definition = self._lib.srDefaultCharacterDef()
        definition.skinPositions = float_pointer(data.skin_positions)
        definition.skinVertexCount = data.vertex_count
        definition.skinTriangles = int_pointer(data.skin_triangles)
        definition.skinTriangleCount = len(data.skin_triangles) // 3
        definition.targetNodeCount = data.target_node_count
        definition.mesher = data.mesher
        definition.tetgenProgram = os.fsencode(self._helper)
        set_inside(definition, data.inside)
        _set_maps(definition.maps, data.maps)
        if data.bone_count:
            _set_bones(definition, data)
        character = bindings.CharacterId()
        self._lib.srCreateCharacter(ctypes.byref(definition), ctypes.byref(character))
        return character

    def open_character(self, data: bytes) -> Any:
        """A ready character from the bytes of `character_file`."""
        character = bindings.CharacterId()
        # the library reads the bytes where Python has them, and keeps nothing
        pointer = ctypes.cast(ctypes.c_char_p(data), ctypes.POINTER(ctypes.c_uint8))
        self._lib.srOpenCharacter(pointer, len(data), ctypes.byref(character))
        return character

    def character_file(self, character: Any) -> bytes:
        """The prepared character, to be opened here or on another machine."""
        size = ctypes.c_size_t()
        self._lib.srCharacter_GetFileSize(character, ctypes.byref(size))
        block = (ctypes.c_uint8 * size.value)()
        self._lib.srCharacter_WriteFile(character, block, size.value)
        return bytes(block)

    def set_maps(self, character: Any, maps: MapsInput, vertex_count: int) -> None:
        definition = self._lib.srDefaultCharacterMaps()
        _set_maps(definition, maps)
        self._lib.srCharacter_SetMaps(character, ctypes.byref(definition), vertex_count)

    def destroy_character(self, character: Any) -> None:
        self._lib.srDestroyCharacter(character)

    def character_status(self, character: Any) -> JobStatus:
        status = bindings.JobStatus()
        self._lib.srCharacter_GetStatus(character, ctypes.byref(status))
        return _job_status(status)

    def character_report(self, character: Any) -> dict[str, Any]:
        report = bindings.CharacterReport()
        self._lib.srCharacter_GetReport(character, ctypes.byref(report))
        values = {name: getattr(report, name) for name, *_ in report._fields_}
        return {**values, "mesherNote": report.mesherNote.decode("utf-8", "replace")}

    def read_cage(self, character: Any) -> tuple[FloatArray, IntArray]:
        """Nodes at rest, 3 floats each; cells, 4 nodes each."""
        report = self.character_report(character)
        nodes = np.empty(3 * report["nodeCount"], np.float32)
        cells = np.empty(4 * report["cellCount"], np.int32)
        self._lib.srCharacter_ReadCage(
            character, float_pointer(nodes), len(nodes) // 3, int_pointer(cells), len(cells) // 4
        )
        return nodes, cells

    def create_shot(
        self,
        character: Any,
        frames: FrameRange,
        settings: ShotSettings,
        skin_to_object: FloatArray | None = None,
    ) -> Any:
        """With a matrix of 16, offsets of the skin are read and baked in another space than its."""
        definition = self._lib.srDefaultShotDef()
        definition.character = character
        definition.firstFrame = frames.shot_first
        definition.frameCount = frames.shot_count
        definition.frameRate = frames.rate
        definition.skinToObject = float_pointer(skin_to_object)
        _set_params(definition.params, settings)
        shot = bindings.ShotId()
        self._lib.srCreateShot(ctypes.byref(definition), ctypes.byref(shot))
        return shot

    def destroy_shot(self, shot: Any) -> None:
        self._lib.srDestroyShot(shot)

    def write_tape(self, shot: Any, first_frame: int, rows: FloatArray) -> int:
        """Rows are (frames, floats a frame). The first frame that differs from what was there."""
        changed = ctypes.c_int32()
        self._lib.srShot_WriteTape(
            shot, first_frame, len(rows), float_pointer(rows), rows.size, ctypes.byref(changed)
        )
        return changed.value

    def follow_skin(self, shot: Any, rest: FloatArray) -> None:
        """What `write_skin` records counts; `rest` is the skin that was prepared."""
        self._lib.srShot_FollowSkin(shot, float_pointer(rest), len(rest) // 3)

    def write_skin(self, shot: Any, first_frame: int, rows: FloatArray) -> int:
        """Rows are (frames, 3 a vertex). The first frame that differs from what was there."""
        changed = ctypes.c_int32()
        self._lib.srShot_WriteSkin(
            shot, first_frame, len(rows), float_pointer(rows), rows.size, ctypes.byref(changed)
        )
        return changed.value

    def write_controls(self, shot: Any, first_frame: int, rows: FloatArray) -> int:
        """Rows are (frames, 10): gravity, wind, gusts, travel felt, cut, pressure.

        Answers the first that differs.
        """
        changed = ctypes.c_int32()
        block = (bindings.FrameControls * len(rows))()
        table = np.frombuffer(block, np.dtype(bindings.FrameControls))
        table["structSize"] = ctypes.sizeof(bindings.FrameControls)
        table["gravity"], table["wind"] = rows[:, 0:3], rows[:, 3:6]
        table["windGusts"], table["travelFelt"] = rows[:, 6], rows[:, 7]
        table["isCut"], table["pressure"] = rows[:, 8] > 0.5, rows[:, 9]
        self._lib.srShot_WriteControls(shot, first_frame, len(rows), block, ctypes.byref(changed))
        return changed.value

    def set_params(self, shot: Any, settings: ShotSettings) -> None:
        params = self._lib.srDefaultShotParams()
        _set_params(params, settings)
        self._lib.srShot_SetParams(shot, ctypes.byref(params))

    def shot_status(self, shot: Any) -> ShotStatus:
        status = bindings.ShotStatus()
        self._lib.srShot_GetStatus(shot, ctypes.byref(status))
        return ShotStatus(
            frame_count=status.frameCount,
            recorded=status.recordedFrameCount,
            ready=status.readyFrameCount,
            running=status.isRunning,
            limited_nodes=status.limitedNodeCount,
            seconds=status.simulationSeconds,
            loop_seam=status.loopSeam,
            loop_rounds=status.loopRounds,
            provisional_frame=status.provisionalFrame if status.hasProvisional else None,
            motion_shapes=status.motionShapeCount,
            message=str(error_from_result(status.result, "")) if status.result else "",
        )

    def wait_frame(self, shot: Any, frame: int, seconds: float) -> bool:
        """True when the frame is ready."""
        try:
            self._lib.srShot_WaitFrame(shot, frame, seconds)
        except NotReadyError:
            return False
        return True

    def read_offsets(self, shot: Any, frame: float, offsets: FloatArray) -> bool:
        """Fills the buffer, 3 floats a vertex; zeros and False when the frame is not ready."""
        try:
            self._lib.srShot_ReadOffsets(shot, frame, float_pointer(offsets), len(offsets) // 3)
        except NotReadyError:
            return False
        return True

    def read_nodes(self, shot: Any, frame: int, primary: bool, nodes: FloatArray) -> None:
        """The cage in the world: where the rig puts it if `primary`, else where it swings to."""
        pointer = float_pointer(nodes)
        self._lib.srShot_ReadNodes(shot, frame, primary, pointer, len(nodes) // 3)

    def ask_provisional(self, shot: Any, frame: int) -> None:
        """About what this frame will be, before the frames up to it are done; see the status."""
        self._lib.srShot_AskProvisional(shot, frame)

    def read_provisional(self, shot: Any, frame: int, offsets: FloatArray) -> bool:
        """As `read_offsets`, of the provisional frame."""
        try:
            pointer = float_pointer(offsets)
            self._lib.srShot_ReadProvisional(shot, frame, pointer, len(offsets) // 3)
        except NotReadyError:
            return False
        return True

    def create_follower(self, shot: Any, rest: FloatArray, is_rigid: bool) -> Any:
        """`rest`: its points in the space of the skin, as they lie there with the rig at rest."""
        definition = self._lib.srDefaultFollowerDef()
        definition.shot = shot
        definition.restPositions = float_pointer(rest)
        definition.pointCount = len(rest) // 3
        definition.isRigid = is_rigid
        follower = bindings.FollowerId()
        self._lib.srCreateFollower(ctypes.byref(definition), ctypes.byref(follower))
        return follower

    def destroy_follower(self, follower: Any) -> None:
        self._lib.srDestroyFollower(follower)

    def write_follower(self, follower: Any, first_frame: int, rows: FloatArray) -> None:
        """Rows are (frames, 32): object to world, rest positions to world."""
        pointer = float_pointer(rows)
        self._lib.srFollower_WriteTape(follower, first_frame, len(rows), pointer, rows.size)

    def read_follower(self, follower: Any, frame: float, offsets: FloatArray) -> bool:
        """As `read_offsets`."""
        try:
            pointer = float_pointer(offsets)
            self._lib.srFollower_ReadOffsets(follower, frame, pointer, len(offsets) // 3)
        except NotReadyError:
            return False
        return True

    def read_follower_provisional(self, follower: Any, frame: int, offsets: FloatArray) -> bool:
        """As `read_provisional`."""
        try:
            pointer = float_pointer(offsets)
            self._lib.srFollower_ReadProvisional(follower, frame, pointer, len(offsets) // 3)
        except NotReadyError:
            return False
        return True

    def state_hash(self, shot: Any, frame: int) -> int:
        value = ctypes.c_uint64()
        self._lib.srShot_GetStateHash(shot, frame, ctypes.byref(value))
        return value.value

    def start_bake(
        self, shot: Any, path: str, frames: FrameRange, kept_path: str = "", follower: Any = None
    ) -> Any:
        """Of the skin or of a follower.

        With `kept_path` it goes on from the frames that an earlier bake left there.
        """
        definition = self._lib.srDefaultBakeDef()
        definition.shot = shot
        definition.path = path.encode("utf-8")
        definition.firstFrame = frames.first
        definition.frameCount = frames.count
        definition.samplesPerFrame = frames.samples
        if follower is not None:
            definition.follower = follower
        if kept_path:
            definition.checkpointPath = kept_path.encode("utf-8")
        bake = bindings.BakeId()
        self._lib.srStartBake(ctypes.byref(definition), ctypes.byref(bake))
        return bake

    def bake_status(self, bake: Any) -> JobStatus:
        status = bindings.JobStatus()
        self._lib.srBake_GetStatus(bake, ctypes.byref(status))
        return _job_status(status)

    def destroy_bake(self, bake: Any) -> None:
        self._lib.srDestroyBake(bake)


def _set_bones(definition: Any, data: CharacterInput) -> None:
    definition.weightStarts = int_pointer(data.weight_starts)
    definition.weightBones = int_pointer(data.weight_bones)
    definition.weightValues = float_pointer(data.weight_values)
    definition.boneCount = data.bone_count
    definition.boneRests = float_pointer(data.bone_rests)
    definition.boneLengths = float_pointer(data.bone_lengths)
    definition.boneParents = int_pointer(data.bone_parents)
    definition.boneLooseTips = float_pointer(data.bone_loose_tips)
    definition.boneSpaces = int_pointer(data.bone_spaces)
    definition.spaceCount = data.space_count
    definition.spaceToSkin = float_pointer(data.space_to_skin)


def _set_maps(definition: Any, maps: MapsInput) -> None:
    definition.stiffness = float_pointer(maps.stiffness)
    definition.mass = float_pointer(maps.mass)
    definition.damping = float_pointer(maps.damping)
    definition.hold = float_pointer(maps.hold)
    definition.pin = float_pointer(maps.pin)
    definition.detail = float_pointer(maps.detail)


def _set_params(params: Any, settings: ShotSettings) -> None:
    params.frequency = settings.frequency_hz
    params.settleFrames = settings.settle_frames
    params.youngModulus = settings.young_modulus_pa
    params.poissonRatio = settings.poisson_ratio
    params.density = settings.density_kg_m3
    params.poseCorrection = settings.pose_correction
    params.substeps = settings.substeps
    params.solver = settings.solver
    params.complement = settings.complement
    params.material = settings.material
    params.fibreStiffness = settings.fibre_stiffness
    params.stretchLimit = settings.stretch_limit
    params.swings = settings.swings
    params.loop = settings.loop
    params.restGravity[:] = settings.rest_gravity


def _job_status(status: Any) -> JobStatus:
    return JobStatus(
        running=status.phase == bindings.Phase.RUNNING,
        failed=status.phase == bindings.Phase.FAILED,
        result=status.result,
        progress=status.progress,
        message=sentence(status.result, _text(status.message)),
    )


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
