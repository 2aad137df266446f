# SPDX-License-Identifier: GPL-3.0-or-later
"""The skin at our place in the stack with all that deforms it at rest: the mesh that is prepared.

The artist's own, for most. Where modifiers before ours make vertices, what they make of it: Blender
is asked in a private scene, which has them and nothing that deforms. So faces, places, and the
weights that it mixes or gives to the other side are those that its armatures see.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ..model.rig import RefusalError
from ..model.session import Session
from . import carrier, compat, followed, generators

NAME = "Softrig Skin"
FRAME = 1
"""The same wherever the artist looks."""


@contextmanager
def rest_mesh(session: Session, ob: Any) -> Iterator[Any]:
    """Valid within; handlers leave the scene alone meanwhile."""
    if not carrier.list_generators(ob):
        yield ob.data
        return
    was_recording, session.recording = session.recording, True
    private = probe = None
    try:
        private = bpy.data.scenes.new(NAME)
        probe = _make_probe(ob)
        private.collection.objects.link(probe)
        private.frame_set(FRAME)
        mesh = probe.evaluated_get(private.view_layers[0].depsgraph).data
        if not mesh.vertices or not mesh.polygons:
            raise RefusalError("The modifiers before Softrig leave no faces.")
        yield mesh
    finally:
        if probe is not None:
            followed.remove_probe(probe)
        if private is not None:
            compat.remove_scene(private)
        session.recording = was_recording


def _make_probe(ob: Any) -> Any:
    """With what makes vertices alone: no deformers, no parent that deforms, the Basis."""
    probe = followed.make_probe(ob)
    for modifier in list(probe.modifiers):
        if not generators.is_generator(modifier):
            carrier.remove_modifier(probe, modifier)
    if probe.parent is not None and probe.parent_type in ("ARMATURE", "LATTICE", "CURVE"):
        probe.parent_type = "OBJECT"
    if ob.data.shape_keys is not None:
        probe.show_only_shape_key, probe.active_shape_key_index = True, 0
    return probe
