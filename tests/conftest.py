# SPDX-License-Identifier: GPL-3.0-or-later
"""Where CI is set, a test that is skipped is a test that failed."""

import os

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and CI is set: {call.excinfo.value}"
