# SPDX-License-Identifier: GPL-3.0-or-later
"""Where presets of artists lie: files in the folder that Blender keeps for such, one each."""

from pathlib import Path
from typing import Any

import bpy

from ..model.presets import LARGEST_FILE, LIMITS, file_name, from_json, to_json
from ..model.rig import RefusalError


def folder() -> Path:
    return Path(bpy.utils.user_resource("SCRIPTS", path="presets")) / "softrig"


def list_presets() -> list[Path]:
    """By name; empty when nobody saved one yet."""
    try:
        return sorted(folder().glob("*.json"), key=lambda path: path.stem.lower())
    except OSError:
        return []


def read_values(ob: Any) -> dict[str, float]:
    return {name: getattr(ob.softrig, name) for name in LIMITS}


def apply_values(ob: Any, values: Any) -> None:
    for name, value in values.items():
        setattr(ob.softrig, name, value)


def load(path: Path) -> dict[str, float]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise RefusalError(f'"{path.stem}" is too large for a preset.')
        return from_json(path.read_text(encoding="utf-8-sig"), path.stem)
    except UnicodeDecodeError as error:
        raise RefusalError(f'"{path.stem}" is damaged, or no preset at all.') from error
    except OSError as error:
        raise RefusalError(f'"{path.stem}" cannot be read: {error.strerror}.') from error


def save(name: str, values: Any) -> Path:
    """Written beside and moved over, so that an old one of that name is whole or replaced."""
    path = folder() / file_name(name)
    partial = path.with_suffix(".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(to_json(values), encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise RefusalError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def delete(name: str) -> None:
    try:
        (folder() / file_name(name)).unlink()
    except OSError as error:
        raise RefusalError(f'"{name}" cannot be deleted: {error.strerror}.') from error
