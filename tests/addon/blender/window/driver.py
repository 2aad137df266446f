# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and eyes for Blender's real window: mouse and keys through X, buttons by what they do."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy

STEP_PIXELS = 9  # a button is 20 high
ROOT = Path(__file__).resolve().parents[4]
OUTPUT = Path(os.environ.get("SOFTRIG_WINDOW_OUTPUT", ROOT / "build" / "window"))


def window() -> Any:
    return bpy.context.window_manager.windows[0]


def view() -> Any:
    return next(area for area in window().screen.areas if area.type == "VIEW_3D")


def sidebar() -> Any:
    return next(region for region in view().regions if region.type == "UI")


def x_event(*arguments: object) -> None:
    subprocess.run(["xdotool", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def screen_height() -> int:
    command = ["xdotool", "getdisplaygeometry"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(answer.stdout.split()[1])


def move(x: int, y: int) -> None:
    """Blender counts from the lower left corner, X from the upper one."""
    place = window()
    x_event("mousemove", place.x + x, screen_height() - 1 - (place.y + y))


def click(x: int, y: int) -> Iterator[float]:
    move(x, y)
    yield 0.2
    x_event("mousedown", 1)
    yield 0.1
    x_event("mouseup", 1)
    yield 0.3


def key(name: str) -> Iterator[float]:
    """A key press over the 3D view."""
    region = next(region for region in view().regions if region.type == "WINDOW")
    move(region.x + region.width // 3, region.y + region.height // 2)
    yield 0.1
    x_event("key", name)
    yield 0.3


def open_tab(panel_drew: Any) -> Iterator[float]:
    """Opens the sidebar and turns the wheel over its tabs until our panel has been drawn."""
    view().spaces.active.show_region_ui = True
    yield 0.5
    for _ in range(12):
        if panel_drew():
            return
        region = sidebar()
        move(region.x + region.width - 8, region.y + region.height - 60)
        yield 0.1
        x_event("keydown", "ctrl", "click", 5, "keyup", "ctrl")
        yield 0.4
    yield from screenshot("0-no-tab")
    raise AssertionError("our tab was not found")


def command_under_mouse() -> str:
    """What the button under the mouse would call; empty over nothing."""
    manager = bpy.context.window_manager
    manager.clipboard = ""
    with bpy.context.temp_override(window=window(), area=view(), region=sidebar()):
        if bpy.ops.ui.copy_python_command_button.poll():
            bpy.ops.ui.copy_python_command_button()
    return manager.clipboard


def path_under_mouse() -> str:
    """The property of the dial under the mouse; empty over nothing."""
    manager = bpy.context.window_manager
    manager.clipboard = ""
    with bpy.context.temp_override(window=window(), area=view(), region=sidebar()):
        if bpy.ops.ui.copy_data_path_button.poll():
            bpy.ops.ui.copy_data_path_button()
    return manager.clipboard


def drag_dial(path: str, pixels: int) -> Iterator[float]:
    """Holds the mouse on a dial and moves it sideways, in steps."""
    found: list[tuple[int, int]] = []
    yield from find_button(path, found, path_under_mouse)
    x, y = found[0]
    x_event("mousedown", 1)
    for step in range(1, 21):
        move(x + pixels * step // 20, y)
        yield 0.05
    x_event("mouseup", 1)
    yield 0.1


def find_button(
    command: str, found: list[tuple[int, int]], look: Callable = command_under_mouse
) -> Iterator[float]:
    """Moves down the sidebar until a button with that command is under the mouse."""
    region = sidebar()
    for column in (0.35, 0.75):
        x = region.x + int(column * region.width)
        for y in range(region.y + region.height - 10, region.y + 10, -STEP_PIXELS):
            move(x, y)
            yield 0.04
            if command in look():
                move(x, y - 4)
                yield 0.05
                found.append((x, y - 4))
                return
    raise AssertionError(f"no button for {command}")


def press_button(command: str) -> Iterator[float]:
    """By a real mouse event, at the place where the button was found."""
    found: list[tuple[int, int]] = []
    yield from find_button(command, found)
    yield from click(*found[0])


def screenshot(name: str) -> Iterator[float]:
    yield 0.8  # panels slide to their places
    OUTPUT.mkdir(parents=True, exist_ok=True)
    path = OUTPUT / f"{name}.png"
    subprocess.run(["import", "-window", "root", str(path)], check=True)
    assert path.stat().st_size > 10_000


def wait_until(condition: Any, what: str, seconds: float = 20.0) -> Iterator[float]:
    for _ in range(int(seconds / 0.1)):
        if condition():
            return
        yield 0.1
    raise AssertionError(f"waited in vain: {what}")
