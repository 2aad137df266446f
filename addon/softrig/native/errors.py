# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong between Python and the library, as exceptions whose text is for people."""

from .bindings import Result

REINSTALL = "Install the Softrig zip for this system again."


class LibraryError(Exception):
    """The library cannot be used at all; the text says what a user can do about it."""


class NativeError(Exception):
    """A call was answered with a result code; the text is the library's own sentence."""

    def __init__(self, result: int, text: str) -> None:
        super().__init__(text)
        self.result = result


class StaleIdError(NativeError):
    """The id names what was destroyed."""


class OutOfMemoryError(NativeError):
    """The allocator refused; nothing was changed."""


class BadMeshError(NativeError):
    """The mesh cannot be used; the report says where."""


class NotReadyError(NativeError):
    """The answer is still being computed."""


class BadFileError(NativeError):
    """Stored bytes are damaged, or of another version or machine."""


class CancelledError(NativeError):
    """Somebody cancelled the work."""


_CLASSES: dict[int, type[NativeError]] = {
    Result.ERROR_STALE_ID: StaleIdError,
    Result.ERROR_OUT_OF_MEMORY: OutOfMemoryError,
    Result.ERROR_BAD_MESH: BadMeshError,
    Result.ERROR_NO_INSIDE: BadMeshError,
    Result.ERROR_NOT_READY: NotReadyError,
    Result.ERROR_BAD_FILE: BadFileError,
    Result.ERROR_CANCELLED: CancelledError,
}


_REMEDIES: dict[int, str] = {
    Result.ERROR_NO_INSIDE: "Close its holes, recalculate its normals outside (in Edit Mode, "
    "Mesh > Normals), or give a flat mesh thickness: add a Solidify modifier and apply it. "
    "For thin parts raise Cage Size.",
    Result.ERROR_FILE: "See whether the folder may be written and the disk has room.",
}


def sentence(result: int, text: str) -> str:
    """The library's sentence, and what helps in Blender."""
    return " ".join(part for part in (text, _REMEDIES.get(result, "")) if part)


def error_from_result(result: int, text: str) -> NativeError:
    """The exception that belongs to a result code."""
    text = sentence(result, text or f"The library answered {result}.")
    return _CLASSES.get(result, NativeError)(result, text)
