# SPDX-License-Identifier: GPL-3.0-or-later
"""Doors that the artist sees: they draw properties and the session's status, no more."""

from . import bake, character, dials, followers, main, paint, presets, weights

CLASSES = (
    presets.SOFTRIG_MT_presets,
    presets.SOFTRIG_MT_delete_preset,
    main.SOFTRIG_PT_main,
    dials.SOFTRIG_PT_shape,
    dials.SOFTRIG_PT_forces,
    dials.SOFTRIG_PT_time,
    paint.SOFTRIG_PT_paint,
    followers.SOFTRIG_PT_followers,
    character.SOFTRIG_PT_bake,
    bake.SOFTRIG_PT_takes,
    bake.SOFTRIG_PT_elsewhere,
    dials.SOFTRIG_PT_advanced,
    character.SOFTRIG_PT_report,
    weights.SOFTRIG_PT_weights,
)
