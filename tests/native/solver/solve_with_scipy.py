# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves one step of complementary dynamics by SciPy: a third opinion, which knows none of our C.

    SR_WRITE_STEP=step.json build/release/tests/solver_test_complementary_reference
    python tests/native/solver/solve_with_scipy.py step.json >scipy_offsets.inc

with a Python that has SciPy, and the result beside this file. Only needed anew when the scene of
the test changes. The step is one of backward Euler from rest.
"""

import json
import sys
from pathlib import Path

import numpy as np
import scipy
from scipy.linalg import null_space
from scipy.optimize import root

Array = np.ndarray


def rotations(matrices: Array) -> Array:
    """The nearest rotation to each matrix, by singular values."""
    u, _, v = np.linalg.svd(matrices)
    u[:, :, 2] *= np.linalg.det(u @ v)[:, None]
    return u @ v


def solve(step: dict) -> Array:
    """The secondary offsets at the end of the step, one row a node."""
    rest, before, after = (np.array(step[name]) for name in ("nodes", "before", "after"))
    cells, h, alpha = np.array(step["cells"]), step["seconds"], step["damping"]
    edges = np.swapaxes(rest[cells[:, 1:]] - rest[cells[:, :1]], 1, 2)
    volumes, inverses = np.linalg.det(edges) / 6.0, np.linalg.inv(edges)
    masses = np.zeros(len(rest))
    for corner in range(4):
        np.add.at(masses, cells[:, corner], 0.25 * step["density"] * volumes)

    def deformation(places: Array) -> Array:
        moved = places[cells[:, 1:]] - places[cells[:, :1]]
        return np.swapaxes(moved, 1, 2) @ inverses

    def gather(stresses: Array) -> Array:
        corners = np.swapaxes(
            volumes[:, None, None] * (stresses @ np.swapaxes(inverses, 1, 2)), 1, 2
        )
        forces = np.zeros_like(rest)
        for corner in range(3):
            np.add.at(forces, cells[:, corner + 1], corners[:, corner])
            np.add.at(forces, cells[:, 0], -corners[:, corner])
        return forces

    # what the rig could have done by itself
    weights = np.array(step["weights"])
    ones = np.hstack([rest, np.ones((len(rest), 1))])
    rig = (weights[:, :, None] * ones[:, None, :]).reshape(len(rest), -1)
    free = null_space((rig * (masses * np.array(step["holds"]))[:, None]).T, rcond=1e-10)

    # stretches that cells are measured against, and pulls
    posed = deformation(after)
    turns = rotations(posed)
    c = step["poseCorrection"]
    stretches = (1.0 - c) * (np.swapaxes(turns, 1, 2) @ posed) + c * np.eye(3)
    pulls = np.array(step["forces"])
    for corner in range(4):
        share = np.array(step["gravity"]) - turns @ np.array(step["restGravity"])
        np.add.at(pulls, cells[:, corner], 0.25 * step["density"] * volumes[:, None] * share)

    velocity = (after - before) / h
    floor = (2.0 * np.pi * step["frequency"]) ** 2

    def forces(y: Array) -> Array:
        u = free @ y.reshape(-1, 3)
        speed = (after + u - before) / h
        deformed = deformation(after + u)
        target = rotations(deformed @ stretches) @ stretches
        push = masses[:, None] * (speed / h + alpha * (speed - velocity) + floor * u) - pulls
        return (free.T @ (push + gather(2.0 * step["shearModulus"] * (deformed - target)))).ravel()

    y = np.zeros(3 * free.shape[1])
    scale = np.abs(forces(y)).max()
    for _ in range(3):
        y = root(lambda x: forces(x) / scale, y, method="hybr", options={"xtol": 1e-15}).x
    print(
        f"largest force left: {np.abs(forces(y)).max() / scale:.1e} of the first", file=sys.stderr
    )
    return free @ y.reshape(-1, 3)


def main() -> None:
    """Prints the offsets as the rows of a table in C."""
    offsets = solve(json.loads(Path(sys.argv[1]).read_text()))
    print("// SPDX-License-Identifier: GPL-3.0-or-later\n//")
    print(f"// Written by solve_with_scipy.py (SciPy {scipy.__version__}): one row a node.\n")
    for x, y, z in offsets:
        print(f"{{{x:.12e}, {y:.12e}, {z:.12e}}},")


if __name__ == "__main__":
    main()
