#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/bench check: which figures and environments it accepts, without measuring."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from bench import ratchet  # noqa: E402  (the path comes first)
from support import cases  # noqa: E402

ENVIRONMENT = {"kernel in the lab": "6.1", "rdma-core": "44.0-2"}


def check(recorded, *found, environment=ENVIRONMENT):
    """The exit status and the output of a check of one row, which is found so in each boot."""
    results = [{"rows": [{"name": "open_device", "warm": each}]} for each in found]
    record = {"commit": "abc", "environment": ENVIRONMENT, "warm": {"open_device": recorded}}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as output:
        file = pathlib.Path(folder, "phases.json")
        file.write_text(json.dumps(record))
        with (
            mock.patch.object(ratchet, "RECORDED", file),
            mock.patch.object(ratchet, "environment", lambda _: environment),
            mock.patch.object(ratchet.run, "build"),
            mock.patch.object(ratchet.run, "measure", mock.Mock(side_effect=results)),
        ):
            status = ratchet.check(None)
    return status, output.getvalue()


class Check(unittest.TestCase):
    def test_a_figure_within_3_percent_passes(self):
        status, output = check(100.0, 102.9)
        self.assertEqual(status, ratchet.OK)
        self.assertIn("no row is", output)

    def test_a_figure_more_than_3_percent_above_fails(self):
        status, output = check(100.0, 103.1, 103.2)
        self.assertEqual(status, ratchet.ABOVE)
        self.assertRegex(output, r"open_device .* \+3\.1%  above\n")

    def test_a_figure_above_in_one_boot_only_passes(self):
        self.assertEqual(check(100.0, 103.1, 102.9)[0], ratchet.OK)

    def test_small_figures_may_rise_by_half_a_microsecond(self):
        self.assertEqual(check(2.0, 2.49)[0], ratchet.OK)
        self.assertEqual(check(2.0, 2.51, 2.52)[0], ratchet.ABOVE)

    def test_a_lower_figure_is_to_be_recorded(self):
        status, output = check(100.0, 90.0)
        self.assertEqual(status, ratchet.OK)
        self.assertIn("tools/bench record", output)

    def test_another_environment_is_skipped_and_named(self):
        status, output = check(100.0, 200.0, environment={**ENVIRONMENT, "rdma-core": "50.0-2"})
        self.assertEqual(status, ratchet.SKIPPED)
        self.assertIn("rdma-core: 50.0-2, recorded: 44.0-2", output)
        self.assertNotIn("kernel", output)


if __name__ == "__main__":
    cases.main()
