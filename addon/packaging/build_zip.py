# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the zip that artists install: a folder `softrig/` with the add-on and the library.

One top-level folder with `bl_info` and the manifest installs in Blender 3.4 (as an add-on) and in
4.2 and later (as an extension). The library lies in a folder named after its version and content,
so that an upgrade within one session never meets the old one; files.json beside it tells the add-on
what must lie there to the byte. Equal input gives an equal zip to the byte.
"""

import argparse
import hashlib
import json
import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADDON = ROOT / "addon" / "softrig"
FIXED_TIME = (1980, 1, 1, 0, 0, 0)
LIST = "files.json"
PLATFORMS = ("linux-x64", "linux-arm64", "windows-x64", "macos-arm64", "macos-x64")


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def read_version() -> str:
    manifest = ADDON / "blender_manifest.toml"
    if not manifest.is_file():
        sys.exit(f"build_zip: there is no {manifest}")
    # the standard library reads TOML only since Python 3.11
    found = re.search(r'^version = "([^"]+)"$', manifest.read_text("utf-8"), re.MULTILINE)
    return found[1] if found else sys.exit(f"build_zip: no version in {manifest}")


def content_hash(folder: Path) -> str:
    """Eight digits that change whenever a name or a byte in the folder does."""
    digest = hashlib.sha256()
    for path in files_below(folder):
        name = path.relative_to(folder).as_posix().encode()
        content = path.read_bytes()
        digest.update(b"%d %s %d\n" % (len(name), name, len(content)))
        digest.update(content)
    return digest.hexdigest()[:8]


def write_list(folder: Path) -> None:
    """Size and SHA-256 of each library: the add-on loads nothing that is damaged."""
    contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    contents.pop(LIST, None)
    listed = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in contents.items()
    }
    (folder / LIST).write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


def addon_entries() -> dict[str, Path]:
    """Names in the zip and their files, without caches and without libraries of a developer."""
    entries = {}
    for path in files_below(ADDON):
        relative = path.relative_to(ADDON)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
        if hidden or path.suffix == ".pyc" or relative.parts[:2] == ("native", "lib"):
            continue
        entries[f"softrig/{relative.as_posix()}"] = path
    if (ROOT / "LICENSE").is_file():
        entries["softrig/LICENSE"] = ROOT / "LICENSE"
    return entries


def library_entries(library: Path, platform: str, version: str) -> dict[str, Path]:
    folder = f"softrig/native/lib/{platform}/{version}-{content_hash(library)}"
    return {
        f"{folder}/{path.relative_to(library).as_posix()}": path for path in files_below(library)
    }


def write_zip(target: Path, entries: dict[str, Path]) -> None:
    partial = target.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(entries):
            info = zipfile.ZipInfo(name, FIXED_TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            archive.writestr(info, entries[name].read_bytes())
    partial.replace(target)


def inputs_hash(entries: dict[str, Path]) -> str:
    """What the zip is made of, to know whether it must be written again."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for name in sorted(entries):
        digest.update(name.encode() + b"\n" + hashlib.sha256(entries[name].read_bytes()).digest())
    return digest.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True, help="folder of what lies beside")
    parser.add_argument("--platform", choices=PLATFORMS, required=True)
    parser.add_argument("--output", type=Path, required=True, help="folder of the zip")
    arguments = parser.parse_args()

    version = read_version()
    write_list(arguments.library)
    entries = addon_entries() | library_entries(arguments.library, arguments.platform, version)
    arguments.output.mkdir(parents=True, exist_ok=True)
    target = arguments.output / f"softrig-{version}-{arguments.platform}.zip"
    stamp = arguments.library.parent / "zip.stamp"
    wanted = inputs_hash(entries)
    if not (target.is_file() and stamp.is_file() and stamp.read_text() == wanted):
        write_zip(target, entries)
        stamp.write_text(wanted)
    print(f"{target} ({target.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
