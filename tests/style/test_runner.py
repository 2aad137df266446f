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
