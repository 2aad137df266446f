# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows as the other benches have them (tests/bench/report.h): written as JSON, printed as a table.

python report.py ROWS [--json]          prints the rows of a file, one JSON object a line
"""

import json
import math
import operator
import sys
from pathlib import Path

BENCH = "blender"
COLUMNS = ("case", "metric", "value", "unit", "goal", "holds")
_JUDGES = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}


def holds(value: float, goal: str | None) -> bool | None:
    """Whether a value meets "<= 3"; None without a goal."""
    if goal is None:
        return None
    sign, limit = goal.split()
    return math.isfinite(value) and _JUDGES[sign](value, float(limit))


class Report:
    """Appends rows to a file at once, so that a bench that dies has said what it knew."""

    def __init__(self, path: Path, case: str) -> None:
        self.path, self.case = path, case

    def add(self, metric: str, value: float, unit: str = "", goal: str | None = None) -> None:
        row = {
            "bench": BENCH,
            "case": self.case,
            "metric": metric,
            "value": value if math.isfinite(value) else None,
            "unit": unit,
            "goal": goal,
            "holds": holds(value, goal),
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _cells(row: dict) -> tuple[str, ...]:
    value = math.nan if row["value"] is None else row["value"]
    verdict = {None: "", True: "yes", False: "NO"}[row["holds"]]
    shown = f"{value:.4g}" if value != int(value) else f"{value:.0f}"
    return (row["case"], row["metric"], shown, row["unit"], row["goal"] or "", verdict)


def table(rows: list[dict]) -> str:
    lines = [COLUMNS, *map(_cells, rows)]
    widths = [max(len(line[c]) for line in lines) for c in range(len(COLUMNS))]
    shown = [
        "  ".join(
            cell.rjust(width) if column == COLUMNS.index("value") else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([f"bench {BENCH}", "", *shown])


def _main(path: str, *options: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    if "--json" in options:
        print(text, end="")
    else:
        print(table([json.loads(line) for line in text.splitlines()]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
