# SPDX-License-Identifier: GPL-3.0-or-later
"""Doors that the artist presses. Each gathers, calls one use case, reports, and returns."""

from . import add, bake, cut, export, fix, paint, presets, record, remove, weigh

CLASSES = (
    add.SOFTRIG_OT_add,
    record.SOFTRIG_OT_prepare,
    record.SOFTRIG_OT_record,
    bake.SOFTRIG_OT_bake,
    bake.SOFTRIG_OT_free_bake,
    remove.SOFTRIG_OT_remove,
    export.SOFTRIG_OT_export_rig,
    presets.SOFTRIG_OT_apply_tissue,
    presets.SOFTRIG_OT_load_preset,
    presets.SOFTRIG_OT_save_preset,
    presets.SOFTRIG_OT_delete_preset,
    presets.SOFTRIG_OT_copy_settings,
    paint.SOFTRIG_OT_paint,
    cut.SOFTRIG_OT_cut_marker,
    fix.SOFTRIG_OT_fix,
    weigh.SOFTRIG_OT_weigh,
)
