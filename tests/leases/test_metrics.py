#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What `warmverbs status --prometheus` prints is what the daemon knows, in the form that Prometheus reads."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import bed

SAMPLE = re.compile(r'(warmverbs_\w+)(?:\{(.*)\})? (\S+)')
OPEN = "open pd destroy:pd close"


def metrics(daemon):
    command = [bed.CLI, "status", "--prometheus", "--details", "--socket", daemon.socket]
    return subprocess.run(command, env=bed.CLEAN, capture_output=True, text=True, check=True, timeout=bed.LIMIT_S).stdout


def promtool(folder):
    """The installed one, or that of Debian 12, unpacked into @folder: to install its package would start a server."""
    if shutil.which("promtool"):
        return "promtool"
    for command in (["apt-get", "download", "--quiet", "prometheus"], ["sh", "-c", "dpkg --extract prometheus_*.deb ."]):
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
            raise unittest.SkipTest("promtool is not installed, and the package prometheus cannot be downloaded")
    return folder / "usr/bin/promtool"


class Metrics(bed.Case):
    def samples(self):
        lines = [line for line in metrics(self.daemon).splitlines() if not line.startswith("#")]
        found = [SAMPLE.fullmatch(line) for line in lines]
        self.assertTrue(all(found), lines)
        return {(name, labels): float(value) for name, labels, value in (match.groups() for match in found)}

    def test_same_as_status(self):
        self.learn(OPEN)
        self.run_leased(OPEN)
        self.daemon.await_ready(self.name)
        recipe, = self.daemon.recipes(self.name)
        of_recipe = {name: value for (name, labels), value in self.samples().items() if recipe["id"] in (labels or "")}
        expected = {"hits": recipe["counters"]["hits"], "commands_adopted_total": recipe["counters"]["adopted"],
                    "leases_wanted": recipe["pool"]["target"], "leases_built_total": recipe["pool"]["built"]}
        self.assertEqual({name: of_recipe["warmverbs_recipe_" + name] for name in expected}, expected)

    def test_promtool_accepts_them(self):
        self.learn(OPEN)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="promtool."))
        self.addCleanup(shutil.rmtree, folder)
        result = subprocess.run([promtool(folder), "check", "metrics"], input=metrics(self.daemon), text=True,
                                capture_output=True, check=False, timeout=bed.LIMIT_S)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))


if __name__ == "__main__":
    bed.main()
