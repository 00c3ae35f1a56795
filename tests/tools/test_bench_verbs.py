#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/bench verbs: what it makes of what the program prints, and, where there is a device, that it measures all."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from bench import device, main, verbs  # noqa: E402  (the path comes first)
from support import cases  # noqa: E402

MACHINE = {"device": "mlx5_0", "driver": "mlx5_core", "board": "MT_1", "firmware": "16.1", "link": "Ethernet",
           "kernel": "6.1", "rdma-core": "44.0", "processor": "a | b", "processors": 2}


def rows_of(samples, refused=""):
    return list(verbs.rows({name: list(values) for name, values in samples.items()}, {"cq": "", "rc": refused}))


class Rows(unittest.TestCase):
    def test_medians_are_of_all_calls(self):
        [row] = rows_of({"alloc_pd": range(1000, 12000, 1000)})
        self.assertEqual((row["plain"], row["calls"]), (6.0, 11))
        self.assertEqual(verbs.figures(row), ("6", "11", "11"))

    def test_a_single_call_is_a_row(self):
        self.assertEqual(rows_of({"alloc_pd": [1500]})[0]["plain"], 1.5)

    def test_the_largest_queue_says_how_large(self):
        [row] = rows_of({"max_cqe": [4194303], "create_cq max_cqe": [1000]})
        self.assertEqual(row["note"], "of 4,194,303 entries")

    def test_what_a_device_lacks_is_said(self):
        *_, last = rows_of({"create_qp rc": [1000]}, "verbs: ibv_modify_qp to RTR: Invalid argument")
        self.assertIn("RTR: Invalid argument", last["note"])
        self.assertIsNone(last["plain"])


class Markdown(unittest.TestCase):
    def test_every_machine_has_the_same_columns(self):
        all_calls = verbs.markdown(MACHINE, rows_of({name: [1000] for name in verbs.COLUMNS.values()}))
        none = verbs.markdown(MACHINE, [])
        self.assertEqual(all_calls[:2], none[:2])
        for lines in (all_calls, none):
            self.assertEqual({line.count(" | ") for line in lines}, {len(verbs.COLUMNS) + 3})
        self.assertNotIn("| - |", all_calls[2])
        self.assertTrue(none[2].endswith("| - |"))


class Options(unittest.TestCase):
    def test_only_verbs_takes_a_device(self):
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            main.main(["phases", "--device", "mlx5_0"])


class Device(unittest.TestCase):
    """On whatever device is here."""

    @classmethod
    def setUpClass(cls):
        if not list(device.CLASS.glob("*")):
            raise unittest.SkipTest("no RDMA device here")
        command = [ROOT / "tools" / "bench", "verbs", "--runs", "1", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.result = json.loads(done.stdout)
        cls.medians = {row["name"]: row["plain"] for row in cls.result["rows"]}

    def test_every_column_has_a_figure(self):
        if self.result["machine"]["driver"] != "mlx5_core":
            self.skipTest("this device may lack some of them")
        self.assertEqual([name for name in verbs.COLUMNS.values() if not self.medians.get(name)], [])

    def test_a_verb_may_take_any_size(self):
        for size in ("4 KB", "256 MB"):
            for name in (f"reg_mr {size}", f"reg_mr {size}, untouched", f"dereg_mr {size}"):
                self.assertGreater(self.medians[name], 0, name)
        self.assertGreater(self.medians["create_cq 256"], 0)
        self.assertGreater(self.medians["destroy_qp rc, 256 QPs"], 0)

    def test_a_device_that_is_not_here_is_named(self):
        command = [ROOT / "tools" / "bench", "verbs", "--runs", "1", "--device", "nothing_0"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("there is no RDMA device nothing_0", done.stderr)


if __name__ == "__main__":
    cases.main()
