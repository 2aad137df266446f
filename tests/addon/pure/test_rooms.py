# SPDX-License-Identifier: GPL-3.0-or-later
"""`native` and `model` stand without Blender, and nothing happens on import."""

import subprocess
import sys
from pathlib import Path

ADDON = Path(__file__).resolve().parents[3] / "addon"
IMPORT_ALL = """
import sys
sys.path.insert(0, sys.argv[1])
sys.modules["bpy"] = None
import softrig, softrig.native.api, softrig.model.session
import softrig.model.maps, softrig.model.schedule, softrig.model.rig_file, softrig.model.settings
assert softrig.model.session.current() is None
"""


def test_native_and_model_work_where_there_is_no_blender() -> None:
    subprocess.run([sys.executable, "-c", IMPORT_ALL, str(ADDON)], check=True)


def test_manifest_and_bl_info_tell_the_same_version() -> None:
    import softrig
    from softrig.native.library import VERSION

    manifest = (ADDON / "softrig" / "blender_manifest.toml").read_text(encoding="utf-8")
    dotted = ".".join(map(str, softrig.bl_info["version"]))
    assert f'\nversion = "{dotted}"\n' in manifest
    assert softrig.bl_info["version"] == VERSION
