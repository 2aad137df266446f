# SPDX-License-Identifier: GPL-3.0-or-later
"""A farm's bake: the bits of the interactive one, progress as lines, resumed after a kill."""

import json
import runpy
import signal
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from support import addon, child, scenes

FARM = "import bpy; bpy.ops.softrig.farm({})"


def events_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith('{"event"')]


def named(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] == name]


@pytest.fixture
def shot(skin: Any, tmp_path: Path) -> Path:
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def interactive(skin: Any) -> bytes:
    scenes.make_active(skin)
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    modifier = addon.module("blender.carrier").find_bake(skin)
    data = Path(bpy.path.abspath(modifier.filepath)).read_bytes()
    bpy.ops.softrig.free_bake()
    return data


def test_a_farm_bakes_the_bits_of_the_interactive_bake(
    skin: Any, shot: Path, tmp_path: Path
) -> None:
    expected = interactive(skin)
    code, text = child.run(shot, FARM.format(f"output={str(tmp_path / 'farm')!r}"))
    assert code == 0, text
    events = events_of(text)
    assert [events[0]["event"], events[-1]["event"]] == ["begin", "end"]
    assert events[0]["characters"] == ["Skin"] and events[-1]["ok"]
    done = named(events, "done")[0]
    assert done["frames"] == [1, scenes.LAST_FRAME]
    assert Path(done["path"]).read_bytes() == expected
    assert [path.name for path in (tmp_path / "farm").iterdir()] == [Path(done["path"]).name]


def test_a_killed_task_goes_on_with_the_same_bytes(skin: Any, tmp_path: Path) -> None:
    bpy.context.scene.frame_end = 600  # a second or two, however late we read its lines
    skin.softrig.solver, skin.softrig.substeps = "XPBD", 100
    path = tmp_path / "long.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    wish = FARM.format("output={!r}")
    task = child.start(path, wish.format(str(tmp_path / "killed")))
    for line in task.stdout:
        if line.startswith('{"event"') and json.loads(line).get("phase") == "baking":
            if 0.2 < json.loads(line)["progress"] < 0.95:
                task.send_signal(signal.SIGKILL)
                break
    task.communicate(timeout=60)
    assert task.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    left = sorted(path.name.rpartition(".")[2] for path in (tmp_path / "killed").iterdir())
    assert left == ["partial", "resume"]

    code, text = child.run(path, wish.format(str(tmp_path / "killed")))
    assert code == 0, text
    resumed = named(events_of(text), "done")[0]
    code, text = child.run(path, wish.format(str(tmp_path / "whole")))
    assert code == 0, text
    whole = named(events_of(text), "done")[0]
    assert Path(resumed["path"]).read_bytes() == Path(whole["path"]).read_bytes()
    assert resumed["resumed"] and not whole["resumed"]
    assert len(list((tmp_path / "killed").iterdir())) == 1


def test_chunks_are_the_frames_of_the_whole_and_go_on_from_each_other(
    skin: Any, shot: Path, tmp_path: Path, capfd: Any
) -> None:
    expected = np.frombuffer(interactive(skin), np.float32, offset=32).reshape(40, -1)
    folder = str(tmp_path / "chunks")
    for first, last in ((1, 15), (16, 40)):
        assert bpy.ops.softrig.farm(frames=f"{first}-{last}", output=folder) == {"FINISHED"}
        done = named(events_of(capfd.readouterr().out), "done")[0]
        assert done["path"].endswith(f".{first:04d}-{last:04d}.pc2")
        rows = np.frombuffer(Path(done["path"]).read_bytes(), np.float32, offset=32)
        assert (
            rows.view(np.uint32) == expected[first - 1 : last].reshape(-1).view(np.uint32)
        ).all()
    kept = [path.name for path in Path(folder).iterdir() if path.name.endswith(".resume")]
    assert len(kept) == 1
    assert bpy.ops.softrig.farm(output=folder) == {"FINISHED"}
    assert not list(Path(folder).glob("*.resume"))


@pytest.mark.parametrize("edited", ["Skin", "Skin Rig"])
def test_a_file_saved_in_edit_mode_is_baked_as_any(
    skin: Any, shot: Path, tmp_path: Path, edited: str
) -> None:
    """A rig shows no pose there, and on a farm nobody presses Tab."""
    expected = interactive(skin)
    scenes.make_active(bpy.data.objects[edited])
    bpy.ops.object.mode_set(mode="EDIT")
    path = tmp_path / "edited.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    if edited != "Skin":
        with pytest.raises(RuntimeError, match="Leave Edit Mode of the armature"):
            bpy.ops.softrig.bake_all()
    bpy.ops.object.mode_set(mode="OBJECT")
    code, text = child.run(path, FARM.format(f"output={str(tmp_path / 'farm')!r}"))
    assert code == 0, text
    assert Path(named(events_of(text), "done")[0]["path"]).read_bytes() == expected


def test_traps_are_told_with_the_bake(skin: Any, tmp_path: Path, capfd: Any) -> None:
    bpy.data.objects["Skin Rig"].data.pose_position = "REST"
    assert bpy.ops.softrig.farm(output=str(tmp_path)) == {"FINISHED"}
    (warned,) = named(events_of(capfd.readouterr().out), "warning")
    assert warned["character"] == "Skin" and "Rest Position" in warned["message"]


def test_what_cannot_be_baked_fails_with_a_code_and_a_sentence(shot: Path) -> None:
    code, text = child.run(shot, FARM.format("characters='Nobody'"))
    events = events_of(text)
    assert code == 1
    assert "There are: Skin" in named(events, "failed")[0]["message"]
    assert not events[-1]["ok"]


def test_one_bad_character_does_not_keep_the_others_from_their_bake(
    skin: Any, tmp_path: Path, capfd: Any
) -> None:
    other, rig = scenes.make_character("Other")
    scenes.add_softrig(other)
    rig.location.x = float("inf")
    rig.animation_data_clear()
    with pytest.raises(RuntimeError, match="Not all characters"):
        bpy.ops.softrig.farm(output=str(tmp_path))
    events = events_of(capfd.readouterr().out)
    assert [event["character"] for event in named(events, "done")] == ["Skin"]
    assert [event["character"] for event in named(events, "failed")] == ["Other"]


def test_a_saved_farm_bake_plays_in_the_file(shot: Path) -> None:
    code, text = child.run(shot, FARM.format("save=True"))
    assert code == 0, text
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    modifier = addon.module("blender.carrier").find_bake(bpy.data.objects["Skin"])
    assert modifier is not None and modifier.filepath.startswith("//softrig/")


def test_other_ranges_are_refused(skin: Any, tmp_path: Path) -> None:
    for frames in ("0-10", "5-99", "frog"):
        with pytest.raises(RuntimeError, match="Not all characters"):
            bpy.ops.softrig.farm(frames=frames, output=str(tmp_path))
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".pc2"]


BAKE_FILE = Path(__file__).parents[3] / "addon" / "packaging" / "bake_file.py"


@pytest.mark.parametrize("content", [None, b"", b"BLENDER-v304REND" + b"#" * 300])
def test_a_file_that_cannot_be_opened_is_told_as_an_event(
    scene: Any, tmp_path: Path, content: bytes | None
) -> None:
    """What `./softrig bake` runs."""
    path, told = tmp_path / "shot.blend", tmp_path / "told"
    if content is not None:
        path.write_bytes(content)
    main = runpy.run_path(str(BAKE_FILE))["main"]
    assert main([str(path)], told.open("w")) == 1
    failed, end = events_of(told.read_text())
    assert str(path) in failed["message"] and end["event"] == "end" and not end["ok"]


def test_characters_of_every_scene_are_baked_and_a_relative_folder_travels(
    skin: Any, tmp_path: Path
) -> None:
    """Whichever scene was in front when the file was saved."""
    bpy.context.window.scene = bpy.data.scenes.new("Edit")
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    code, text = child.run(path, FARM.format("output='//bakes', save=True"))
    assert code == 0, text
    done = named(events_of(text), "done")[0]
    assert done["character"] == "Skin" and done["frames"] == [1, scenes.LAST_FRAME]
    assert Path(done["path"]).parent == tmp_path / "bakes"
    bpy.ops.wm.open_mainfile(filepath=str(path))
    modifier = addon.module("blender.carrier").find_bake(bpy.data.objects["Skin"])
    assert modifier.filepath == f"//bakes/{Path(done['path']).name}"
