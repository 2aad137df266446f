# SPDX-License-Identifier: GPL-3.0-or-later
"""The runner's promises that can be tested without installing anything."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from common import ROOT

RUNNER = ROOT / "softrig"


def run(*arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    command = [str(RUNNER), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("verb", ["package", "format", "demo", "test"])
def test_without_leave_nothing_is_installed(tmp_path: Path, verb: str) -> None:
    cache = tmp_path / "cache"
    result = run(verb, "--no-install", cache=cache)
    assert result.returncode == 3
    assert "by pip" in result.stdout
    assert str(cache) in result.stdout
    assert not cache.exists()


def test_a_stage_that_does_not_exist_is_named(tmp_path: Path) -> None:
    result = run("test", "no-such-stage", "--no-install", cache=tmp_path)
    assert result.returncode == 1
    assert "no-such-stage" in result.stderr
    assert "sanitizers" in result.stderr


def test_help_needs_nothing(tmp_path: Path) -> None:
    result = run("help", cache=tmp_path / "cache")
    assert result.returncode == 0
    assert "--no-install" in result.stdout
    assert not (tmp_path / "cache").exists()


def test_it_runs_from_another_folder_through_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(RUNNER)
    assert subprocess.run([link, "help"], cwd=tmp_path, capture_output=True).returncode == 0


@pytest.mark.parametrize("verb", ["help", "build", "package"])
def test_arguments_that_a_verb_does_not_take_are_refused(tmp_path: Path, verb: str) -> None:
    result = run(verb, "extra", "--no-install", cache=tmp_path / "cache")
    assert result.returncode == 1
    assert "'extra'" in result.stderr
    assert not (tmp_path / "cache").exists()


def test_the_check_of_the_layout_does_not_depend_on_the_folder() -> None:
    command = [sys.executable, str(ROOT / "tests" / "style" / "format.py"), "--check"]
    here, elsewhere = (
        subprocess.run(command, cwd=folder, capture_output=True, text=True)
        for folder in (ROOT, ROOT / "docs")
    )
    assert (elsewhere.returncode, elsewhere.stdout) == (here.returncode, here.stdout)


# what the runner uses that every machine has, and nothing that builds
PLAIN_TOOLS = (
    "bash cat cut dirname env grep id ls mkdir readlink rm sed sha256sum sort xargs".split()
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The runner with a program that is older than its sources, and a cmake that makes another."""
    for name in ("softrig", "tests/blenders.sh", "tests/stages.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    build = tmp_path / "build" / "release"
    program = build / "native" / "softrig-cli"
    program.parent.mkdir(parents=True)
    write_program(program, "echo stale")
    (build / "build.ninja").touch()
    (build / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={tmp_path}\n")
    tools = tmp_path / "tools"
    tools.mkdir()
    made = f"mkdir -p {program.parent}; printf '#!/bin/sh\\necho fresh\\n' >{program}"
    write_program(tools / "cmake", f"echo noise; {made}; chmod +x {program}")
    return tmp_path


def write_program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def run_clone(clone: Path, path: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"XDG_CACHE_HOME": str(clone / "cache"), "PATH": path}
    command = [str(clone / "softrig"), "info", "--no-install"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def claim_for_another_clone(clone: Path) -> None:
    cache = clone / "build" / "release" / "CMakeCache.txt"
    cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={clone}-elsewhere\n", encoding="utf-8")


@pytest.mark.parametrize("is_foreign", [False, True])
def test_the_program_is_built_before_it_runs(clone: Path, is_foreign: bool) -> None:
    if is_foreign:
        claim_for_another_clone(clone)
    result = run_clone(clone, f"{clone / 'tools'}:{os.environ['PATH']}")
    assert (result.returncode, result.stdout) == (0, "fresh\n")
    # what the build says is not for people who only want to run it
    assert is_foreign or result.stderr == ""


def test_a_build_that_fails_is_shown_and_ends_it(clone: Path) -> None:
    write_program(clone / "tools" / "cmake", "echo wrong; exit 1")
    result = run_clone(clone, f"{clone / 'tools'}:{os.environ['PATH']}")
    assert (result.returncode, result.stdout) == (1, "")
    assert "wrong" in result.stderr


@pytest.mark.parametrize("is_foreign", [False, True])
def test_without_a_compiler_the_program_runs_as_it_is(clone: Path, is_foreign: bool) -> None:
    for name in PLAIN_TOOLS:
        (clone / "tools" / name).symlink_to(shutil.which(name))
    (clone / "tools" / "cmake").unlink()
    if is_foreign:
        claim_for_another_clone(clone)
    result = run_clone(clone, str(clone / "tools"))
    if is_foreign:
        assert result.returncode == 3
        return
    assert (result.returncode, result.stdout) == (0, "stale\n")
    assert "not rebuilt, for want of:" in result.stderr


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("1", 1)])
def test_a_skipped_test_fails_where_ci_is_set(tmp_path: Path, ci: str, code: int) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    planted = "import pytest\n\ndef test_planted():\n    pytest.skip('planted reason')\n"
    (tmp_path / "test_planted.py").write_text(planted, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(tmp_path)]
    environment = os.environ | {"CI": ci}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == code
    assert "planted reason" in result.stdout
