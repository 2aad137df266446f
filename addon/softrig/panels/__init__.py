# SPDX-License-Identifier: GPL-3.0-or-later
"""Doors that the artist sees: they draw properties and the session's status, no more."""

from . import bake, character, main

CLASSES = (
    main.SOFTRIG_PT_main,
    character.SOFTRIG_PT_motion,
    character.SOFTRIG_PT_maps,
    character.SOFTRIG_PT_bake,
    bake.SOFTRIG_PT_takes,
    bake.SOFTRIG_PT_elsewhere,
    character.SOFTRIG_PT_advanced,
    character.SOFTRIG_PT_report,
)
