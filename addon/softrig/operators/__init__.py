# SPDX-License-Identifier: GPL-3.0-or-later
"""Doors that the artist presses. Each gathers, calls one use case, reports, and returns."""

from . import add, bake, bake_keys, bake_takes, export, farm, record, remove

CLASSES = (
    add.SOFTRIG_OT_add,
    record.SOFTRIG_OT_prepare,
    record.SOFTRIG_OT_record,
    bake.SOFTRIG_OT_bake,
    bake.SOFTRIG_OT_bake_all,
    bake.SOFTRIG_OT_free_bake,
    bake.SOFTRIG_OT_free_all,
    bake_takes.SOFTRIG_OT_bake_take,
    bake_takes.SOFTRIG_OT_show_take,
    bake_takes.SOFTRIG_OT_mix_take,
    bake_takes.SOFTRIG_OT_remove_take,
    bake_takes.SOFTRIG_OT_use_bake,
    bake_keys.SOFTRIG_OT_bake_keys,
    bake_keys.SOFTRIG_OT_free_keys,
    bake_keys.SOFTRIG_OT_export_motion,
    farm.SOFTRIG_OT_farm,
    remove.SOFTRIG_OT_remove,
    export.SOFTRIG_OT_export_rig,
)
