# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that did not come to its end loses nothing, says why, and goes on with the same bytes."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import pytest
from support import addon, measure, scenes


@pytest.fixture
def saved(skin: Any, tmp_path: Path) -> Any:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return skin


def bake_bytes(skin: Any) -> bytes:
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    modifier = addon.module("blender.carrier").find_bake(skin)
    return Path(bpy.path.abspath(modifier.filepath)).read_bytes()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name.rpartition(".")[2] for path in folder.iterdir())


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """What a full disk is to a writer."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def start_run(skin: Any) -> Any:
    module = addon.module("blender.bake")
    run = module.BakeRun(addon.session(), skin, bpy.context.scene, module.BakeWish())
    while not run.started:
        run.turn()
    return run


def stop_on_the_way(skin: Any) -> tuple[Any, bytes]:
    """A bake stopped before its end, and what lay in its place. Its thread does not wait for us to
    look, so it gets a long way; where we were kept from looking all the same, it goes again."""
    skin.softrig.substeps, bpy.context.scene.frame_end = 100, 400
    for _ in range(5):
        old = b"".join(path.read_bytes() for path in Path(bpy.path.abspath("//")).rglob("*.pc2"))
        run = start_run(skin)
        while run.progress < 0.3:
            if run.turn():
                break
        else:
            run.stop()
            return run, old
    raise AssertionError("each bake was whole before it could be stopped")


@pytest.mark.parametrize("is_part", [False, True])
def test_stopping_keeps_the_frames_and_the_old_bake(
    saved: Any, tmp_path: Path, is_part: bool
) -> None:
    bake_bytes(saved)
    if is_part:
        bpy.context.scene.frame_end = saved.softrig.bake_last = 400
        saved.softrig.bake_range, saved.softrig.bake_first = "OWN", 300
    run, old = stop_on_the_way(saved)
    assert names_in(tmp_path / "softrig") == ["pc2", "resume"]
    assert next((tmp_path / "softrig").glob("*.pc2")).read_bytes() == old
    assert run.kept_text().startswith("The frames that are done")
    bake_bytes(saved)
    left = ["pc2", "pc2", "resume"] if is_part else ["pc2"]
    assert names_in(tmp_path / "softrig") == left


def test_another_session_goes_on_with_the_same_bytes(saved: Any, tmp_path: Path) -> None:
    run, _ = stop_on_the_way(saved)
    kept = run.kept.read_bytes()
    assert len(kept) > 10_000
    bpy.ops.wm.save_mainfile()
    expected = bake_bytes(saved)
    for path in (tmp_path / "softrig").iterdir():
        path.unlink()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    Path(run.kept).write_bytes(kept)
    again = start_run(bpy.data.objects["Skin"])
    assert again.goes_on
    while not again.turn():
        pass
    assert Path(bpy.path.abspath(again.path)).read_bytes() == expected


@pytest.mark.parametrize("size", [5_000, 60_000, 200_000])
def test_a_full_disk_is_told_and_loses_nothing(saved: Any, tmp_path: Path, size: int) -> None:
    live = measure.at_frame(saved, 24)
    old = bake_bytes(saved)
    saved.softrig.softness = 0.9
    with files_no_larger_than(size), pytest.raises(RuntimeError, match="the disk has room"):
        bpy.ops.softrig.bake()
    assert next((tmp_path / "softrig").glob("*.pc2")).read_bytes() == old
    assert not list((tmp_path / "softrig").glob("*.partial"))
    assert measure.same_bits(measure.at_frame(saved, 24), live)
    assert bake_bytes(saved) != old
    assert names_in(tmp_path / "softrig") == ["pc2"]


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="no folder that nobody may write into")
def test_a_folder_that_nobody_may_write_into_is_told(saved: Any) -> None:
    module = addon.module("blender.bake")
    for folder in ("/sys/kernel", "/sys/kernel/softrig"):
        wish = module.BakeWish(folder=folder)
        run = module.BakeRun(addon.session(), saved, bpy.context.scene, wish)
        with pytest.raises(
            Exception, match="Permission denied|not permitted|cannot be made|may be"
        ):
            while not run.turn():
                pass
    assert addon.entry_of(saved).bake is None


def test_changed_keys_between_two_bakes_do_not_mix(saved: Any) -> None:
    run = start_run(saved)
    while not run.turn():
        pass
    run, _ = stop_on_the_way(saved)
    rig = bpy.data.objects["Skin Rig"]
    rig.location.x = 9.0
    rig.keyframe_insert("location", frame=scenes.STOP_FRAME)
    mixed = bake_bytes(saved)
    assert mixed == bake_bytes(saved)
    assert run.kept.exists() is False
