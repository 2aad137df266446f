# SPDX-License-Identifier: GPL-3.0-or-later
"""The known traps, one line each: when it is one, what to say, what mends it. Pure.

`blender/examine.py` reads the facts, `blender/fixes.py` mends, the panel draws.
"""

from collections.abc import Callable
from dataclasses import dataclass

USUAL_SIZE = 2.0
"""Metres: at which the scene's gravity looks as we know it."""
UNUSUAL = 10.0
"""So many times larger or smaller, and gravity looks odd."""
SMALLEST_SIZE = 1e-9
FIX = "softrig.fix"


@dataclass(frozen=True)
class Facts:
    """What is looked at; a default never is a trap."""

    blocker: str = ""
    """The modifier before ours that makes vertices and that we cannot follow."""
    uneven: str = ""
    """One that makes another mesh there in renders than in the viewport."""
    keyed: str = ""
    """One that makes vertices there by settings that are animated."""
    is_stack_changed: bool = False
    """Others make vertices there than when it was prepared."""
    multires: str = ""
    armature_after: str = ""
    """An armature modifier behind ours that ours can be moved behind."""
    armature_beyond: str = ""
    """One that stands behind something which makes new vertices."""
    nodes_after: str = ""
    """A node group behind ours where nothing before ours moves the skin."""
    half_armature: str = ""
    """An armature modifier that is on in only one of viewport and render."""
    resting: str = ""
    """An armature that shows its rest position."""
    hidden: str = ""
    """An armature that is hidden while the whole scene has to be stepped."""
    unweighted: int = 0
    vertices: int = 0
    prepared_vertices: int = 0
    editing: bool = False
    is_flat: bool = False
    """The object is scaled to nothing along some axis."""
    changes_proportions: bool = False
    """Its scale does other things to its shape in the shot than at the first frame."""
    size: float = 0.0
    """In the world, along its longest side."""
    gravity: float = 0.0
    is_gravity_keyed: bool = False
    off_in_viewport: bool = False
    off_in_render: bool = False
    lost_map: str = ""
    """A map whose vertex group is gone."""
    lost_group: str = ""
    stuck_follower: str = ""
    """A follower that cannot follow,"""
    stuck_because: str = ""
    """and the sentence why."""
    unbaked_follower: str = ""
    """One that is not in the bake that the character plays."""
    limited: int = 0
    """How often a point was held back from flying away."""
    trouble: str = ""
    """Why the simulation stopped."""
    is_baked: bool = False
    bake_fault: str = ""
    """What is wrong with its file, behind "the bake"."""
    baked_frames: tuple[int, int] | None = None
    """First and count; None where there is no file to look into."""
    frames: tuple[int, int] = (0, 0)
    baked_subframes: int = 0
    subframes: int = 0
    """That a bake would have now."""
    is_rewritten: bool = False
    """Its file is another than was put on."""
    keys_of: str = ""
    """What baked shape keys were made of; empty where none play."""
    baked_of: str = ""
    """What the bake was made of; empty for one that does not tell."""
    made_of: str = ""
    """What a bake would be made of now; empty while that is not known."""

    @property
    def has_bake(self) -> bool:
        return self.is_baked and not self.bake_fault

    @property
    def is_bake_short(self) -> bool:
        return self.has_bake and self.baked_frames not in (None, self.frames)

    @property
    def is_bake_coarse(self) -> bool:
        """A finer one than asked for is good for everything that a coarser one is."""
        return (
            self.has_bake
            and self.baked_frames is not None
            and self.baked_subframes < self.subframes
        )

    @property
    def wanted_gravity(self) -> float:
        """That would look as it does on a character of the usual size."""
        return self.size / USUAL_SIZE

    @property
    def is_gravity_odd(self) -> bool:
        if self.gravity == 0.0 or self.size < SMALLEST_SIZE or self.is_gravity_keyed:
            return False
        times = abs(self.gravity) / self.wanted_gravity
        return not 1.0 / UNUSUAL <= times <= UNUSUAL


@dataclass(frozen=True)
class Trap:
    key: str
    applies: Callable[[Facts], bool]
    text: str
    """May name facts: "{f.blocker}"."""
    operator: str = ""
    label: str = "Fix"
    icon: str = "ERROR"


@dataclass(frozen=True)
class Finding:
    """A trap that somebody is in."""

    key: str
    text: str
    operator: str
    label: str
    icon: str


TRAPS = (
    Trap(
        "MULTIRES",
        lambda f: bool(f.multires),
        'The Multires modifier "{f.multires}" wants the undeformed mesh and cannot stand with '
        "Softrig. Apply or remove it; Subdivision Surface works.",
    ),
    Trap(
        "BLOCKER",
        lambda f: bool(f.blocker) and not f.multires,
        'The modifier "{f.blocker}" stands before Softrig and changes the mesh.',
        FIX,
        "Move Softrig Above It",
    ),
    Trap(
        "UNEVEN",
        lambda f: bool(f.uneven) and not f.blocker,
        'The modifier "{f.uneven}" before Softrig makes another mesh in renders than in the '
        "viewport, so nothing swings.",
        FIX,
        "Render It as in the Viewport",
    ),
    Trap(
        "KEYED",
        lambda f: bool(f.keyed) and not f.blocker,
        'The modifier "{f.keyed}" before Softrig is animated, so its vertices may change. Move it '
        "below Softrig, or remove its keys.",
    ),
    Trap(
        "STACK_CHANGED",
        lambda f: f.is_stack_changed and not f.blocker and not f.editing,
        "The modifiers before Softrig are not those that it was prepared for.",
        "softrig.prepare",
        "Prepare Again",
    ),
    Trap(
        "ARMATURE_AFTER",
        lambda f: bool(f.armature_after),
        'The armature "{f.armature_after}" stands behind Softrig and bends the swinging too.',
        FIX,
        "Move Softrig Below It",
    ),
    Trap(
        "ARMATURE_BEYOND",
        lambda f: bool(f.armature_beyond),
        'The armature "{f.armature_beyond}" stands behind a modifier that changes the mesh. Move '
        "the armature to the top of the stack.",
    ),
    Trap(
        "NODES_AFTER",
        lambda f: bool(f.nodes_after),
        'The node group "{f.nodes_after}" stands behind Softrig: the flesh does not feel how that '
        "moves the mesh.",
        icon="INFO",
    ),
    Trap(
        "HALF_ARMATURE",
        lambda f: bool(f.half_armature),
        'The armature "{f.half_armature}" is on in only one of viewport and render: they differ.',
        FIX,
        "Turn It On in Both",
    ),
    Trap(
        "RESTING",
        lambda f: bool(f.resting),
        'The armature "{f.resting}" is set to Rest Position: nothing moves.',
        FIX,
        "Set It to Pose Position",
    ),
    Trap(
        "HIDDEN",
        lambda f: bool(f.hidden),
        'This rig reads the scene, but the armature "{f.hidden}" is disabled there.',
        FIX,
        "Enable It",
    ),
    Trap(
        "OFF_IN_RENDER",
        lambda f: f.off_in_render,
        "The Softrig modifier is off in renders.",
        FIX,
        "Turn It On",
    ),
    Trap(
        "OFF_IN_VIEWPORT",
        lambda f: f.off_in_viewport,
        "The Softrig modifier is off in the viewport: only renders show the motion.",
        FIX,
        "Turn It On",
        "INFO",
    ),
    Trap(
        "FLAT",
        lambda f: f.is_flat,
        "The object is scaled to nothing along an axis.",
        FIX,
        "Clear the Scale",
    ),
    Trap(
        "CHANGING_SCALE",
        lambda f: f.changes_proportions and not f.is_flat,
        "The object's scale stretches it in this shot. The flesh has the shape of the scene's "
        "first frame, and takes what follows for motion.",
        icon="INFO",
    ),
    Trap(
        "EDITED",
        lambda f: 0 < f.prepared_vertices != f.vertices and f.vertices > 0 and not f.editing,
        "The mesh has {f.vertices} vertices, but {f.prepared_vertices} were prepared.",
        "softrig.prepare",
        "Prepare Again",
    ),
    Trap(
        "UNWEIGHTED",
        lambda f: f.vertices > 0 and f.unweighted >= f.vertices,
        "No vertex has weights for a bone that deforms, so all flesh stays with the object. Parent "
        "the mesh to its armature with automatic weights, or paint them.",
        "softrig.prepare",
        "Then: Prepare Again",
    ),
    Trap(
        "ODD_GRAVITY",
        lambda f: f.is_gravity_odd,
        "This character is {f.size:.3g} m large in the scene: gravity will look "
        "too weak on a giant, too strong on a midget.",
        FIX,
        "Fit Gravity to Its Size",
        "INFO",
    ),
    Trap(
        "LOST_MAP",
        lambda f: bool(f.lost_map),
        'The map {f.lost_map} names the vertex group "{f.lost_group}", which is not there.',
        FIX,
        "Forget It",
    ),
    Trap(
        "STUCK_FOLLOWER",
        lambda f: bool(f.stuck_follower),
        'The follower "{f.stuck_follower}" stands still. {f.stuck_because}',
        FIX,
        "Let It Follow No More",
    ),
    Trap(
        "UNBAKED_FOLLOWER",
        lambda f: bool(f.unbaked_follower),
        'The follower "{f.unbaked_follower}" is not in the bake.',
        "softrig.bake",
        "Bake Again",
    ),
    Trap(
        "TROUBLE",
        lambda f: bool(f.trouble),
        "The simulation stopped, the pose shows from there on: {f.trouble}",
        "softrig.record",
        "Try Again",
    ),
    Trap(
        "LIMITED",
        lambda f: f.limited > 0,
        "Some flesh had to be held back from flying away. Where the rig jumps, set a Cut marker; "
        "else calm the forces.",
        icon="INFO",
    ),
    Trap(
        "BROKEN_BAKE",
        lambda f: f.is_baked and bool(f.bake_fault),
        "The plain pose shows: the bake {f.bake_fault}. Bring it back, bake again, or:",
        "softrig.free_bake",
        "Play Live",
    ),
    Trap(
        "SHORT_BAKE",
        lambda f: f.is_bake_short,
        "The bake has other frames than the scene: {f.baked_frames[1]} from "
        "{f.baked_frames[0]} on.",
        "softrig.bake",
        "Bake Again",
    ),
    Trap(
        "COARSE_BAKE",
        lambda f: f.is_bake_coarse and not f.is_bake_short,
        "The bake has {f.baked_subframes} Subframes, {f.subframes} are asked for.",
        "softrig.bake",
        "Bake Again",
    ),
    Trap(
        "OTHER_BAKE",
        lambda f: f.has_bake and f.is_rewritten and not f.is_bake_short and not f.is_bake_coarse,
        "The bake's file was written anew since: it shows another motion than was baked here.",
        "softrig.bake",
        "Bake Again",
    ),
    Trap(
        "OLD_KEYS",
        lambda f: bool(f.keys_of) and f.made_of not in ("", f.keys_of),
        "Something changed since the shape keys were baked: they show the motion as it was.",
        "softrig.bake_keys",
        "Bake Again",
    ),
    Trap(
        "OLD_BAKE",
        lambda f: (
            f.has_bake
            and not f.is_rewritten
            and not f.is_bake_short
            and not f.is_bake_coarse
            and bool(f.baked_of)
            and f.made_of not in ("", f.baked_of)
        ),
        "Something changed since the bake: it shows the motion as it was.",
        "softrig.bake",
        "Bake Again",
    ),
)


def find_traps(facts: Facts) -> tuple[Finding, ...]:
    """All that apply, in the order of the table."""
    return tuple(
        Finding(trap.key, trap.text.format(f=facts), trap.operator, trap.label, trap.icon)
        for trap in TRAPS
        if trap.applies(facts)
    )
