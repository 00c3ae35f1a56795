#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Answers that are the same for all programs are asked of the device once per node; others, each time."""

from support import bed
from test_pooled import OPEN

IMMUTABLE = {"QUERY_HCA_CAP": 1, "QUERY_ADAPTER": 1, "QUERY_NIC_VPORT_CONTEXT": 1}
NOT_CACHED = {name: n for name, n in bed.minus({**OPEN}, IMMUTABLE).items() if n > 0}
PORT = {"ACCESS_REG": 1, "QUERY_NIC_VPORT_CONTEXT": 1}
WORDS = "open at:opened attributes:port at:port attributes at:device cpuinfo"


class Answers(bed.Case):
    def marks(self, result):
        self.assertEqual((result.status, result.failures), (0, []), result.errors)
        for firmware in result.marks.values():
            firmware.pop("MODIFY_NIC_VPORT_CONTEXT", None)  # given if there is another context
        return [result.marks[name] for name in ("opened", "port", "device")]

    def test_answers(self):
        plain = self.run_plain(WORDS)
        opened, port, device = self.marks(plain)
        self.assertEqual(opened, OPEN)
        device_too = bed.minus(device, port)
        self.assertGreater(len(device_too), len(PORT))
        self.assertEqual(bed.minus(port, opened), PORT)

        # No program has had a lease of the device yet, so its answers are not known.
        first = self.learn(WORDS)
        self.assertEqual(self.marks(first)[0], OPEN)

        # The daemon does not know this program, so it is recorded.
        unknown = self.learn(WORDS, name="unknown")
        opened, port, device = self.marks(unknown)
        self.assertEqual(opened, NOT_CACHED)
        self.assertEqual((bed.minus(port, opened), bed.minus(device, port)), (PORT, device_too))

        # Its lease has the answers about the device, but not about the port.
        leased = self.run_leased(WORDS)
        opened, port, device = self.marks(leased)
        self.assertEqual((opened, bed.minus(port, opened), bed.minus(device, port)), ({}, PORT, PORT))
        for result in (unknown, leased, first):
            self.assertEqual(result.lines, plain.lines)

    def test_gids_are_asked_each_time(self):
        words = "open attributes:port attributes:port"
        self.learn(words)
        leased = self.run_leased(words)
        self.assertEqual(bed.counts(leased.pid, "commands")["query_gid_entry"], 2)
        self.assertEqual(bed.counts(leased.pid, "commands")["query_port"], 2)

    def test_what_was_recorded_without_asking_is_right(self):
        """A recording whose answers were already known makes leases like any other."""
        words = "open pd cq qp:rc move:init at:ready"
        self.learn("open", name="first")
        self.learn(words)
        leased = self.run_leased(words)
        self.assertEqual(leased.marks["ready"], {})

    def test_cpuinfo(self):
        """The provider reads all of it at each open, for a fact that the processor itself can tell."""
        words = "open open cpuinfo"
        plain = self.run_plain(words)
        self.assertEqual(bed.counts(plain.pid, "commands")["proc_cpuinfo"], 3)
        recorded = self.learn(words, n=2)
        leased = self.run_leased(words, n=2)
        for result in (recorded, leased):
            self.assertEqual(result.failures, [])
            self.assertEqual(bed.counts(result.pid, "commands")["proc_cpuinfo"], 1)


if __name__ == "__main__":
    bed.main()
