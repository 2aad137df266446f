# SPDX-License-Identifier: GPL-3.0-or-later
"""Each panel draws in each state without a native call, and says what a user needs."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from support import addon, scenes

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "artists"


class Layout:
    """Takes every call of a layout and keeps its texts, properties and operators."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.properties: list[str] = []
        self.operators: list[str] = []
        self.labels: list[str] = []
        """What stands beside dials and on buttons."""
        self.beside: list[str] = []
        """What shares its line with a dial or with its own name."""

    def label(self, text: str = "", **_: Any) -> None:
        self.texts.append(text)

    def prop(self, owner: Any, name: str, text: str | None = None, **options: Any) -> None:
        if not name.startswith("["):
            getattr(owner, name)
            known = owner.bl_rna.properties[name]
            self.labels += [text or known.name] if name != "progress" else []
            if text != "" and owner.bl_rna.identifier == "SoftrigSettings" and not options:
                self.note_width(known, text or known.name)
        self.properties.append(name)
        self.texts.append(text or "")

    def note_width(self, known: Any, text: str) -> None:
        """Switches have their name where others have their value."""
        if known.type == "BOOLEAN":
            return
        self.beside.append(text)
        if known.type == "ENUM":
            self.beside += [item.name for item in known.enum_items]

    def prop_search(self, owner: Any, name: str, source: Any, items: str, **_: Any) -> None:
        getattr(source, items)
        self.prop(owner, name)

    def operator(self, name: str, text: str = "", **_: Any) -> SimpleNamespace:
        self.texts.append(text)
        group, verb = name.split(".")
        known = getattr(getattr(bpy.ops, group), verb).get_rna_type()
        self.operators.append(name)
        self.labels.append(text or known.name)
        return SimpleNamespace(**{property.identifier: None for property in known.properties})

    def operator_menu_enum(self, name: str, choice: str, **_: Any) -> None:
        assert hasattr(self.operator(name), choice)

    def menu(self, name: str, text: str = "", **_: Any) -> None:
        assert hasattr(bpy.types, name)
        self.texts.append(text)

    def progress(self, factor: float = 0.0, text: str = "", **_: Any) -> None:
        self.texts.append(text)

    def separator(self, **_: Any) -> None:
        pass

    def row(self, **_: Any) -> "Layout":
        return self

    column = box = split = row

    @property
    def words(self) -> str:
        return " ".join(self.texts)


def draw_all() -> Layout:
    layout = Layout()
    context = SimpleNamespace(
        object=bpy.context.object,
        scene=bpy.context.scene,
        region=SimpleNamespace(width=280),
        preferences=bpy.context.preferences,
    )
    for cls in addon.module("panels").CLASSES:
        if not issubclass(cls, bpy.types.Panel):
            continue
        if not hasattr(cls, "poll") or cls.poll(context):
            cls.draw(SimpleNamespace(layout=layout), context)
    return layout


@pytest.fixture
def silent(scene: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Fails the test when a panel calls the library."""

    class Forbidden:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"a panel called {name}")

    def forbid() -> None:
        monkeypatch.setattr(addon.session(), "api", Forbidden())

    yield forbid
    monkeypatch.undo()


def test_nothing_selected(scene: Any, silent: Any) -> None:
    silent()
    assert "Select the character's mesh" in draw_all().words


def test_a_mesh_is_invited(scene: Any, silent: Any) -> None:
    scenes.make_character()
    silent()
    assert "softrig.add" in draw_all().operators


def test_a_refusal_is_said(scene: Any, silent: Any) -> None:
    skin, _ = scenes.make_character()
    addon.session().notices[skin.name] = "This mesh encloses nothing."
    silent()
    assert "This mesh encloses nothing." in draw_all().words


def test_a_live_character_shows_its_dials_and_its_frames(skin: Any, silent: Any) -> None:
    bpy.context.scene.frame_set(scenes.LAST_FRAME)
    addon.session().refresh(addon.entry_of(skin))
    silent()
    layout = draw_all()
    assert f"{scenes.LAST_FRAME} of {scenes.LAST_FRAME} frames ready" in layout.words
    for name in ("softness", "settle_frames", "volume", "pose_correction", "substeps"):
        assert name in layout.properties
    for name in ("bake", "record", "prepare", "remove", "export_rig"):
        assert f"softrig.{name}" in layout.operators
    assert "nodes" in layout.words


def test_each_phase_is_drawn(skin: Any, silent: Any) -> None:
    lifecycle, entry = addon.module("model.lifecycle"), addon.entry_of(skin)
    silent()
    before = entry.state
    for phase in lifecycle.Phase:
        entry.state = lifecycle.State(phase, message="a sentence")
        assert draw_all().texts
    entry.state = before


def test_a_missing_bake_is_told(skin: Any, silent: Any) -> None:
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert "Plays from the bake" in draw_all().words
    addon.session().bake_faults = {skin.softrig.uuid: "is missing: //softrig/Skin.pc2"}
    addon.session().findings.clear()
    words = draw_all().words
    assert "The bake does not play" in words and "Plays from the bake" not in words


def test_without_a_library_the_panel_says_why(scene: Any, silent: Any) -> None:
    addon.session().problem = "The Softrig library for amiga-m68k is missing."
    try:
        layout = draw_all()
        assert "amiga-m68k is missing" in layout.words
        assert not layout.operators
    finally:
        addon.session().problem = ""


def test_findings_are_drawn_with_their_buttons(skin: Any, silent: Any) -> None:
    bpy.data.objects["Skin Rig"].data.pose_position = "REST"
    addon.module("blender.examine").examine(addon.session(), skin, bpy.context.scene)
    silent()
    layout = draw_all()
    assert "Rest Position" in layout.words and "softrig.fix" in layout.operators


def test_what_the_scene_may_move_is_offered_to_be_stepped(skin: Any, silent: Any) -> None:
    entry = addon.entry_of(skin)
    silent()
    assert "Play the Scene" not in draw_all().words
    addon.module("blender.doubts").ask(entry)
    assert "Play the Scene" in draw_all().words


def test_the_seam_of_a_loop_is_shown_as_a_number(skin: Any, silent: Any) -> None:
    skin.softrig.loop = "LAST_IS_FIRST"
    bpy.context.scene.frame_set(scenes.LAST_FRAME)
    addon.session().refresh(addon.entry_of(skin))
    silent()
    assert "Seam: " in draw_all().words and " rounds" in draw_all().words


def test_what_a_frame_takes_is_told(skin: Any, silent: Any) -> None:
    bpy.context.scene.frame_set(scenes.LAST_FRAME)
    addon.session().refresh(addon.entry_of(skin))
    silent()
    assert " ms a frame" in draw_all().words


@pytest.mark.parametrize("menu", ["SOFTRIG_MT_presets", "SOFTRIG_MT_delete_preset"])
def test_menus_list_tissues_and_own_presets(skin: Any, menu: str) -> None:
    assert bpy.ops.softrig.save_preset(preset="Mine") == {"FINISHED"}
    (cls,) = [cls for cls in addon.module("panels").CLASSES if cls.__name__ == menu]
    layout = Layout()
    cls.draw(SimpleNamespace(layout=layout), bpy.context)
    assert "Mine" in layout.texts
    assert ("Jelly" in layout.texts) == (menu == "SOFTRIG_MT_presets")
    bpy.ops.softrig.delete_preset(preset="Mine")


def test_every_setting_is_drawn(skin: Any) -> None:
    settings = skin.softrig
    settings.bake_range = "OWN"
    settings.use_start_frame, settings.pre_roll_mode, settings.loop = True, "SETTLE", "NONE"
    for kind in addon.module("model.maps").KINDS:
        setattr(settings, f"map_{kind}", "Some")
    drawn = set(draw_all().properties)
    of_followers = {"leader", "follower_uuid", "rigid"}
    hidden = {"uuid", *of_followers} | (
        {"solver"} if len(addon.module("model.settings").SOLVERS) == 1 else set()
    )
    assert set(addon.module("blender.properties").setting_names()) - drawn == hidden


def test_every_setting_has_a_tooltip() -> None:
    for item in addon.module("blender.properties").SoftrigSettings.bl_rna.properties:
        if item.identifier not in ("rna_type", "name", "progress"):
            assert len(item.description) > 10, item.identifier


def test_every_operator_has_a_tooltip() -> None:
    for cls in addon.module("operators").CLASSES:
        assert len(cls.bl_description) > 20, cls.bl_idname


def test_each_map_is_named_and_only_a_named_factor_has_a_strength(skin: Any) -> None:
    layout = draw_all()
    kinds = addon.module("model.maps").KINDS
    assert [name for name in layout.properties if name.startswith("map_")] == [
        f"map_{kind}" for kind in kinds
    ]
    assert not any(name.startswith("full_") for name in layout.properties)
    skin.softrig.map_mass, skin.softrig.map_pin = "Heavy", "Still"
    shown = [name for name in draw_all().properties if name.startswith("full_")]
    assert shown == ["full_mass"]


def test_removing_leaves_no_setting_behind(skin: Any) -> None:
    settings = skin.softrig
    items = [item for item in settings.bl_rna.properties if not item.is_readonly]
    for item in items:
        if item.identifier not in ("name", "quality", "progress"):
            setattr(settings, item.identifier, getattr(settings, item.identifier))
    assert settings.is_property_set("cut") and settings.is_property_set("start_frame")
    assert bpy.ops.softrig.remove() == {"FINISHED"}
    left = [item.identifier for item in items if settings.is_property_set(item.identifier)]
    assert [name for name in left if name not in ("quality", "progress")] == []


def test_takes_are_listed_with_their_influence(skin: Any) -> None:
    assert bpy.ops.softrig.bake() == {"FINISHED"}
    assert bpy.ops.softrig.bake_take(take="Soft") == {"FINISHED"}
    layout = draw_all()
    assert "Main" in layout.texts and "Soft" in layout.texts
    assert layout.operators.count("softrig.show_take") == 2
    assert layout.properties.count("factor") == 1  # only one is shown
    assert bpy.ops.softrig.mix_take(take="Main") == {"FINISHED"}
    assert draw_all().properties.count("factor") == 2


def test_a_render_that_was_not_right_is_told(skin: Any) -> None:
    addon.session().render_problems = ["Skin: not all frames are recorded and simulated."]
    try:
        assert "The last render is not right: Skin" in draw_all().words
    finally:
        addon.session().render_problems = []


def test_followers_are_listed_and_have_a_panel_of_their_own(skin: Any) -> None:
    hat = scenes.make_skin("Hat", 8)
    scenes.make_active(skin)
    hat.select_set(True)
    assert bpy.ops.softrig.follow() == {"FINISHED"}
    addon.module("blender.watch").look_around(addon.session())
    drawn = draw_all()
    assert "Hat" in drawn.words and "rigid" in drawn.properties
    scenes.make_active(hat)
    drawn = draw_all()
    assert "Skin" in drawn.words and "rigid" in drawn.properties
    assert "softrig.unfollow" in drawn.operators and "softrig.add" not in drawn.operators


def tells_of(guide: str, label: str) -> bool:
    """In italics, or at the end of a path of panels."""
    return bool(re.search(rf"(\*|> ){re.escape(label)}\*", guide))


def test_the_guide_knows_every_dial_and_button(skin: Any, silent: Any) -> None:
    """By the words that stand there."""
    guide = "\n".join(path.read_text(encoding="utf-8") for path in GUIDE.glob("*.md"))
    labels = set()
    for _ in range(2):
        skin.softrig.use_start_frame, skin.softrig.pre_roll_mode = True, "SETTLE"
        labels |= set(draw_all().labels)
        bpy.ops.softrig.bake()
    labels |= set(draw_all().labels)
    missing = [label for label in sorted(labels) if not tells_of(guide, label)]
    assert not missing, f"no page of docs/artists tells of {missing}"


@pytest.mark.parametrize("method", ["COMPLEMENTARY", "FLESH", "XPBD"])
def test_nothing_is_cut_off_in_a_sidebar_of_common_width(skin: Any, method: str) -> None:
    """Half a line has room for some 70 pixels of a font that is 6 wide."""
    settings = skin.softrig
    settings.solver, settings.use_start_frame = method, True
    settings.pre_roll_mode = "SETTLE"
    for kind in ("stiffness", "mass", "damping"):
        setattr(settings, f"map_{kind}", "tail2")
    beside = draw_all().beside
    assert len(beside) > 30
    assert [text for text in beside if len(text) > 11] == []
