# SPDX-License-Identifier: BSD-2-Clause
"""Builds, and measures all parts of a benchmark, each at its place."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import products
import session

from .places import HERE
from .say import say

INSIDE = pathlib.Path(__file__).parent / "inside.py"


def build():
    return products.build("build-release", say, "--buildtype=release")


def measure(bench, built, runs):
    rows = []
    for number, (place, function) in enumerate(bench.parts):
        rows += function(built, runs) if place is HERE else elsewhere(place, bench, number, built, runs)
    return {"bench": bench.name, "unit": bench.unit, "runs": runs, "bed": bench.bed, "rows": rows, **bench.facts(rows)}


def elsewhere(place, bench, number, built, runs):
    with tempfile.TemporaryDirectory(prefix="warmverbs-bench-") as out:
        inside = [sys.executable, INSIDE, bench.name, str(number), built.folder, str(runs)]
        status = subprocess.run(
            [*place(built, out), *inside], env={**os.environ, "LAB_OUT": out}, stdout=sys.stderr, check=False
        ).returncode
        if status:
            raise session.SessionError(f"measuring failed ({status}), see above")
        return json.loads(pathlib.Path(out, "rows.json").read_text())
