# SPDX-License-Identifier: GPL-3.0-or-later
"""On, off, on again; with a library that is missing, wrong, or new."""

import ctypes
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import bpy
import pytest
from support import addon, measure, scenes


def handler_names() -> list[str]:
    lists = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
    found = [item for one in lists if isinstance(one, list) for item in one]
    return sorted(f.__name__ for f in found if f.__name__.startswith("softrig"))


def test_switching_off_leaves_no_byte_no_handler_no_timer(skin: Any, scene: Any) -> None:
    scene.frame_end = 2000
    measure.at_frame(skin, 2)
    api, timer = addon.session().api, addon.module("handlers.timer")
    addon.disable()
    try:
        assert api.byte_count() == 0
        assert handler_names() == []
        assert not bpy.app.timers.is_registered(timer.softrig_tick)
        assert not hasattr(bpy.types.Object, "softrig")
        scene.frame_set(9)
    finally:
        addon.enable()


def test_off_and_on_again_shows_the_same_bits(skin: Any) -> None:
    before, handlers = measure.at_frame(skin, 24), handler_names()
    addon.disable()
    addon.enable()
    assert measure.same_bits(measure.at_frame(skin, 24), before)
    assert handler_names() == handlers


@pytest.mark.parametrize("kind", ["missing", "text", "other architecture", "other library"])
def test_an_unusable_library_is_told_and_blender_goes_on(
    scene: Any, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "libsoftrig.so"
    if kind == "text":
        path.write_text("not a library", encoding="utf-8")
    elif kind == "other architecture":
        path.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xf3\x00" + bytes(200))
    elif kind == "other library":
        shutil.copy(real_path("libm.so.6"), path)
    addon.disable()
    monkeypatch.setenv("SOFTRIG_LIBRARY", str(path))
    try:
        addon.enable()
        assert "Install" in addon.session().problem
        skin, _ = scenes.make_character()
        assert not bpy.ops.softrig.add.poll()
        scene.frame_set(5)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        addon.disable()
    finally:
        monkeypatch.undo()
        if not addon.is_enabled():
            addon.enable()
    assert not addon.session().problem


def real_path(name: str) -> str:
    """Where the running process has that library from."""
    ctypes.CDLL(name)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if name in line)


@pytest.mark.skipif("SOFTRIG_ZIP" not in os.environ, reason="runs on the installed zip only")
def test_an_upgrade_within_one_session(skin: Any, tmp_path: Path) -> None:
    """A zip with another library path is installed while the old one is at work."""
    before, old_library = measure.at_frame(skin, 24), addon.module("native.library")
    old_path = old_library.find_library()
    newer = upgraded_zip(Path(os.environ["SOFTRIG_ZIP"]), tmp_path)
    install(newer)
    assert addon.is_enabled() and addon.module("native.library").find_library() != old_path
    assert not addon.session().problem
    assert measure.same_bits(measure.at_frame(skin, 24), before)


@pytest.mark.skipif("SOFTRIG_ZIP" not in os.environ, reason="runs on the installed zip only")
def test_the_same_zip_again_and_again_in_one_session(skin: Any) -> None:
    """Its library is at work, and the installer writes the same file over it."""
    before = measure.at_frame(skin, 24)
    for _ in range(2):
        install(Path(os.environ["SOFTRIG_ZIP"]))
        assert addon.is_enabled() and not addon.session().problem
        assert measure.same_bits(measure.at_frame(skin, 24), before)


@pytest.mark.skipif("SOFTRIG_ZIP" not in os.environ, reason="runs on the installed zip only")
def test_nothing_is_loaded_from_where_installers_write(skin: Any) -> None:
    installed = Path(addon.module("native.library").__file__).parents[1]
    with open("/proc/self/maps", encoding="utf-8") as maps:
        mapped = {line.split(maxsplit=5)[-1].strip() for line in maps}
    assert not [path for path in mapped if path.startswith(str(installed))]
    assert any("/softrig-" in path and "libsoftrig" in path for path in mapped)


@pytest.mark.skipif("SOFTRIG_ZIP" not in os.environ, reason="runs on the installed zip only")
def test_a_truncated_library_is_told_and_blender_goes_on(scene: Any) -> None:
    path = addon.module("native.library").find_library()
    data = path.read_bytes()
    addon.disable()
    path.write_bytes(data[: len(data) // 2])
    try:
        addon.enable()
        assert "damaged" in addon.session().problem and "Install" in addon.session().problem
        scene.frame_set(5)
        addon.disable()
    finally:
        path.write_bytes(data)
        if not addon.is_enabled():
            addon.enable()
    assert not addon.session().problem


def test_switching_off_shows_the_plain_pose_and_saves_it(skin: Any, tmp_path: Path) -> None:
    measure.at_frame(skin, 24)
    live = measure.evaluated(skin)
    addon.disable()
    try:
        for frame in (24, 1, 40):
            shown = measure.at_frame(skin, frame)
            assert measure.same_bits(shown, measure.without_us(skin)), f"frame {frame}"
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "off.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "off.blend"))
        loaded = bpy.data.objects["Skin"]
        assert measure.same_bits(measure.at_frame(loaded, 24), measure.without_us(loaded))
    finally:
        addon.enable()
    assert measure.same_bits(measure.at_frame(loaded, 24), live)


def upgraded_zip(source: Path, folder: Path) -> Path:
    """The same add-on, as if its library were another build: other folder, later date."""
    target = folder / "newer.zip"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for item in old.infolist():
            name = item.filename
            if "/native/lib/" in name:
                parts = name.split("/")
                parts[4] = parts[4].rsplit("-", 1)[0] + "-ffffffff"
                name = "/".join(parts)
            new.writestr(zipfile.ZipInfo(name, (2030, 1, 1, 0, 0, 0)), old.read(item))
    return target


def install(path: Path) -> None:
    if bpy.app.version < (4, 2):
        bpy.ops.preferences.addon_install(filepath=str(path), overwrite=True)
        bpy.ops.preferences.addon_enable(module=addon.NAME)
    else:
        bpy.ops.extensions.package_install_files(
            repo="user_default", filepath=str(path), enable_on_install=True, overwrite=True
        )
