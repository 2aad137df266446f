# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the library, loads it and makes sure that it is the one that the bindings were made for."""

import ctypes
import logging
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import bindings, copies
from .errors import REINSTALL, LibraryError, error_from_result

log = logging.getLogger(__name__)

FOLDER = Path(__file__).parent / "lib"
VERSION = (bindings.SR_VERSION_MAJOR, bindings.SR_VERSION_MINOR, bindings.SR_VERSION_PATCH)
ENVIRONMENT = "SOFTRIG_LIBRARY"
_PLAIN_INTEGERS = frozenset({"srGetWorkerCount", "srShutdown"})
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
HELPER = "softrig-tetgen"
_HELPERS = {"windows": f"{HELPER}.exe"}
_FILES = {"linux": "libsoftrig.so", "windows": "softrig.dll", "macos": "libsoftrig.dylib"}


def platform_name() -> str:
    """The name of this system in the zip, such as "linux-x64"."""
    system = _SYSTEMS.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return f"{system}-{_MACHINES.get(machine, machine)}"


def library_file_name() -> str:
    return _FILES.get(platform_name().split("-")[0], "libsoftrig.so")


def find_library(folder: Path = FOLDER) -> Path:
    """The library of this platform: the newest, should an unclean upgrade have left several."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named)
    wanted = platform_name()
    found = list((folder / wanted).glob(f"*/{library_file_name()}"))
    if found:
        return max(found, key=lambda path: path.stat().st_mtime)
    others = sorted(path.name for path in folder.glob("*") if path.is_dir() and path.name != wanted)
    if others:
        raise LibraryError(
            f"This copy of Softrig is made for {', '.join(others)}, but this computer is {wanted}. "
            f"Install the Softrig zip for {wanted}."
        )
    raise LibraryError(f"The Softrig library for {wanted} is missing. {REINSTALL}")


def find_helper(library: ctypes.CDLL) -> str:
    """The program that fills a surface by TetGen, beside the library; empty where there is none."""
    path = Path(library._name).parent / _HELPERS.get(platform_name().split("-")[0], HELPER)
    return str(path) if path.is_file() else ""


def load_library(path: Path) -> ctypes.CDLL:
    """Loads, shakes hands and declares all functions. LibraryError says what to do."""
    if not path.is_file():
        raise LibraryError(f"The Softrig library is missing: {path}. {REINSTALL}")
    library = _open_library(path)
    _shake_hands(library)
    try:
        bindings.declare_functions(library)
    except AttributeError as error:
        raise LibraryError(f"The Softrig library is incomplete: {error}. {REINSTALL}") from error
    _compare_struct_sizes(library)
    _check_results(library)
    return library


def _open_library(path: Path) -> ctypes.CDLL:
    """What a zip brought is opened as a checked copy; what a developer named, where it lies."""
    if FOLDER not in path.parents and not (path.parent / copies.LIST).is_file():
        return _open_file(path)
    contents = copies.read_list(path.parent)
    copies.check_sizes(path.parent, contents)
    failure: Exception | None = None
    for place in copies.places():
        try:
            return _open_file(copies.provide_copy(path.parent, contents, place) / path.name)
        except (OSError, LibraryError) as error:
            failure = failure or error
    if isinstance(failure, LibraryError):
        raise failure
    raise LibraryError(f"No copy of the Softrig library can be made to load: {failure}.")


def _open_file(path: Path) -> ctypes.CDLL:
    try:
        with _one_blas_thread():
            library = ctypes.CDLL(str(path.resolve()))
    except OSError as error:
        raise LibraryError(
            f"The Softrig library cannot be loaded on {platform_name()}: {error}. {REINSTALL}"
        ) from error
    log.info("loaded %s", path)
    return library


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """The linear algebra beside the library must not start threads when it is loaded."""
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _shake_hands(library: ctypes.CDLL) -> None:
    try:
        get_info = library.srGetAbiInfo
    except AttributeError as error:
        raise LibraryError(f"What was loaded is not the Softrig library. {REINSTALL}") from error
    get_info.restype = bindings.AbiInfo
    get_info.argtypes = ()
    info = get_info()
    found = (info.version.major, info.version.minor, info.version.patch)
    same_interface = info.abiVersion == bindings.SR_ABI_VERSION
    if found != VERSION or not same_interface or info.structCount != len(bindings.STRUCTS):
        raise LibraryError(
            f"The Softrig library is version {_dotted(found)} (interface {info.abiVersion}), this "
            f"add-on needs {_dotted(VERSION)} (interface {bindings.SR_ABI_VERSION}). {REINSTALL}"
        )


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in version)


def _compare_struct_sizes(library: ctypes.CDLL) -> None:
    for name, struct in bindings.STRUCTS.items():
        size = library.srGetStructSize(name.encode())
        if size != ctypes.sizeof(struct):
            raise LibraryError(
                f"The Softrig library belongs to another add-on: {name} has {size} bytes "
                f"there and {ctypes.sizeof(struct)} here. {REINSTALL}"
            )


def _check_results(library: ctypes.CDLL) -> None:
    def check(result: int, function: object, arguments: object) -> int:
        if result != bindings.Result.SUCCESS:
            raise error_from_result(result, library.srGetErrorText().decode("utf-8", "replace"))
        return result

    for name, (result_type, _) in bindings.FUNCTIONS.items():
        if result_type is ctypes.c_int32 and name not in _PLAIN_INTEGERS:
            getattr(library, name).errcheck = check
