# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings that an object carries: saved, overridden, copied and undone like any other."""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..model.maps import FACTORS, KINDS, MapChoice, MapChoices
from ..model.session import current
from ..model.settings import (
    COMPLEMENTS,
    DEFAULT_LOOSE_PARTS,
    DEFAULT_SOFTNESS,
    MATERIALS,
    OWN_QUALITY,
    QUALITIES,
    SOLVERS,
    SWINGS,
    find_quality,
    make_settings,
)
from ..native.inputs import ShotSettings
from . import carrier, compat, graph
from .bake_dials import BakeDials
from .cage_dials import CageDials
from .dials import (
    NOT_KEYED,
    OVERRIDABLE,
    ForceDials,
    ShapeDials,
    TimeDials,
    choices,
    hand_in,
    tell_turns,
)


def _get_quality(settings: Any) -> int:
    return find_quality(settings.cage_nodes, settings.substeps)


def _set_quality(settings: Any, number: int) -> None:
    if number != OWN_QUALITY:
        settings.cage_nodes = QUALITIES[number].nodes
        settings.substeps = QUALITIES[number].substeps


QUALITY_ITEMS = [
    *((q.key, q.name, q.text, number) for number, q in enumerate(QUALITIES)),
    ("OWN", "Own", "As Substeps and Cage Size say under Advanced", OWN_QUALITY),
]


def _map_group(name: str, text: str) -> Any:
    return StringProperty(
        name=name,
        description=f"Vertex group: {text}",
        default="",
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )


def _full_paint(of: str, default: float, lowest: float, highest: float) -> Any:
    return FloatProperty(
        name="Full Paint",
        description=f"How many times the {of} where the weight is 1; without paint it is once",
        default=default,
        min=lowest,
        max=highest,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )


def _progress(settings: Any) -> float:
    """Of whatever the character is busy with, 0 to 1. Read by the panel only."""
    session = current()
    if session is None:
        return 0.0
    uuid = session.adding.get(settings.id_data.name, settings.uuid)
    entry = session.entries.get(uuid)
    if entry is None:
        return 0.0
    return entry.bake_progress if entry.bake_progress is not None else entry.progress


class SoftrigSettings(
    BakeDials, CageDials, ForceDials, ShapeDials, TimeDials, bpy.types.PropertyGroup
):
    """What the artist may change about one character."""

    uuid: StringProperty(
        name="Identity", options={"HIDDEN"}, override=OVERRIDABLE, description="Names the character"
    )
    leader: PointerProperty(
        name="Follows",
        description="The character whose flesh this object follows",
        type=bpy.types.Object,
        override=OVERRIDABLE,
    )
    follower_uuid: StringProperty(
        name="Identity", options={"HIDDEN"}, override=OVERRIDABLE, description="Names the follower"
    )
    rigid: BoolProperty(
        name="Rigid",
        description="Move this follower as a whole, with the flesh around it: for eyes, teeth and "
        "buttons. Off, it bends with the flesh, as clothes do",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    softness: FloatProperty(
        name="Softness",
        description="How slowly free flesh swings: 0 is 8 swings a second (firm), "
        "0.5 is 2 a second, 1 is one swing in 2 seconds (jelly)",
        default=DEFAULT_SOFTNESS,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=hand_in,
    )
    settle_frames: FloatProperty(
        name="Settle",
        description="Frames until a swing has died down to 2 % of its first peak",
        default=24.0,
        min=1.0,
        max=10000.0,
        soft_max=120.0,
        step=100,
        precision=1,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=hand_in,
    )
    volume: FloatProperty(
        name="Volume",
        description="How strongly squeezed flesh keeps its volume: 0 not at all, 0.5 fully",
        default=0.45,
        min=0.0,
        max=0.5,
        subtype="FACTOR",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=hand_in,
    )
    pose_correction: FloatProperty(
        name="Pose Correction",
        description="0: a held pose stays exactly as the rig shapes it. "
        "1: the flesh also pulls back to the modelled shape",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=hand_in,
    )
    substeps: IntProperty(
        name="Substeps",
        description="How finely time is divided; more is more exact and slower. Complementary "
        "takes one step a frame for each five. Fast Flesh makes do with three of ten; where "
        "flesh swings quickly or for long it takes up to ten, however few are asked for. "
        "Springy takes them all, and is stiffer with more",
        default=10,
        min=1,
        max=100,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    stiffness_kpa: FloatProperty(
        name="Stiffness (kPa)",
        description="Young's modulus in kilopascals (fat 3, muscle 30). "
        "0 chooses it from Softness and the character's size",
        default=0.0,
        min=0.0,
        max=1_000_000.0,
        soft_max=200.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    density: FloatProperty(
        name="Weight (kg/m³)",
        description="Mass of a cubic metre of flesh, in kilograms; water has 1000. Wind blows "
        "light flesh about; where Stiffness is given, heavy flesh swings slower",
        default=1000.0,
        min=1.0,
        max=100_000.0,
        soft_min=100.0,
        soft_max=5000.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=hand_in,
    )
    loose_parts: StringProperty(
        name="Loose Parts",
        description="Words separated by commas. Bones whose names begin with one of them swing "
        "freely towards their tips. The character is prepared again",
        default=DEFAULT_LOOSE_PARTS,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    step_scene: BoolProperty(
        name="Step Scene",
        description="Record by stepping the scene itself, which is slower and drops poses without "
        "keys: for rigs that read the scene in a way that Softrig does not find out by itself",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    quality: EnumProperty(
        name="Quality",
        description="How fine the simulation is. Finer is slower; the character is prepared again",
        items=QUALITY_ITEMS,
        get=_get_quality,
        set=_set_quality,
        options=NOT_KEYED,
    )
    solver: EnumProperty(
        name="Method",
        description="How the flesh is simulated",
        items=choices(SOLVERS),
        default=SOLVERS[0].key,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    complement: EnumProperty(
        name="Pose Keeps",
        description="What physics does not add to where flesh is held. Only for the method "
        "Complementary",
        items=choices(COMPLEMENTS),
        default=COMPLEMENTS[0].key,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    material: EnumProperty(
        name="Material",
        description="How flesh resists being stretched. Only for the method Complementary",
        items=choices(MATERIALS),
        default=MATERIALS[0].key,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    fibre_stiffness: FloatProperty(
        name="Fibres",
        description="How many times as stiff flesh is along its bones as across them, as muscle "
        "is. Only for the method Fast Flesh",
        default=1.0,
        min=0.01,
        max=30.0,
        soft_min=0.2,
        soft_max=10.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    stretch_limit: FloatProperty(
        name="Max Stretch",
        description="Nothing in the flesh gets longer than so many times its length in the pose; "
        "it may get shorter. 1 lets nothing stretch, 0 is no limit. Only for the method Fast Flesh",
        default=0.0,
        min=0.0,
        max=10.0,
        soft_max=2.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    swings: EnumProperty(
        name="Swings",
        description="How long swings last beside what Settle says. Only for the method Fast Flesh",
        items=choices(SWINGS),
        default=SWINGS[0].key,
        options=NOT_KEYED,
        override=OVERRIDABLE,
    )
    map_stiffness: _map_group("Stiffness", "where the flesh is stiffer, or softer")
    full_stiffness: _full_paint("stiffness", 4.0, 0.01, 100.0)
    map_mass: _map_group("Mass", "where the flesh is heavier and swings slower, or lighter")
    full_mass: _full_paint("mass", 4.0, 0.01, 100.0)
    map_damping: _map_group("Damping", "where swings die down sooner, or later")
    full_damping: _full_paint("damping", 4.0, 0.01, 100.0)
    map_detail: _map_group(
        "Detail", "where the inner cage is finer. The character is prepared again"
    )
    map_hold: _map_group("Hold", "how far the flesh obeys its bones, at least")
    map_pin: _map_group("Pin", "where the skin stays exactly in its pose")
    progress: FloatProperty(name="Progress", subtype="FACTOR", min=0.0, max=1.0, get=_progress)


def read_settings(ob: Any) -> ShotSettings:
    values = ob.softrig
    return make_settings(
        softness=values.softness,
        settle_frames=values.settle_frames,
        volume=values.volume,
        pose_correction=values.pose_correction,
        stiffness_kpa=values.stiffness_kpa,
        density_kg_m3=values.density,
        substeps=values.substeps,
        solver=values.solver,
        complement=values.complement,
        material=values.material,
        fibre_stiffness=values.fibre_stiffness,
        stretch_limit=values.stretch_limit,
        swings=values.swings,
        loop=values.loop,
    )


def read_map_choices(ob: Any) -> MapChoices:
    values = ob.softrig
    choices = {}
    for kind in KINDS:
        group = getattr(values, f"map_{kind}")
        full = getattr(values, f"full_{kind}") if kind in FACTORS and group else 1.0
        choices[kind] = MapChoice(group, full)
    return MapChoices(**choices)


def clear_settings(ob: Any) -> None:
    for name in setting_names():
        ob.softrig.property_unset(name)


OWN = ("uuid", "loose_parts", "leader", "follower_uuid", "rigid")
"""What belongs to one object, and is no dial."""


def copy_settings(source: Any, target: Any) -> None:
    """All but what belongs to one mesh: its identity, its painted maps, the names of its bones."""
    for name in setting_names():
        if name not in OWN and not name.startswith(("map_", "full_")):
            setattr(target.softrig, name, getattr(source.softrig, name))
    amounts = [carrier.find_modifier(ob) for ob in (source, target)]
    if None not in amounts:
        compat.set_input(amounts[1], graph.AMOUNT, compat.get_input(amounts[0], graph.AMOUNT))


def setting_names() -> list[str]:
    """All that is stored; what is only computed is none."""
    return [
        item.identifier
        for item in SoftrigSettings.bl_rna.properties
        if item.identifier not in ("rna_type", "name", "quality", "progress")
    ]


def register() -> None:
    tell_turns(SoftrigSettings)
    bpy.utils.register_class(SoftrigSettings)
    bpy.types.Object.softrig = PointerProperty(type=SoftrigSettings, override=OVERRIDABLE)


def unregister() -> None:
    del bpy.types.Object.softrig
    bpy.utils.unregister_class(SoftrigSettings)
