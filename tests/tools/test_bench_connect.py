#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/bench connect and kvs: what they make of what programs print, and of traces, without measuring."""

import pathlib
import socket
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from bench import connect, connecting, kvs  # noqa: E402  (the path comes first)
from support import cases, trace  # noqa: E402

CREATE, MODIFY, QUERY = (4, 0, trace.NO_WRITE_CMD), (0, 0, 26), (4, 1, trace.NO_WRITE_CMD)
RESET, *MOVES = range(4)


def client(made, moved):
    """What a server asks for: create and INIT answered in one way, RTR and RTS in another."""
    hows = zip(MOVES, (made, moved, moved), strict=True)
    return [
        command(CREATE, made, RESET),
        *(command(MODIFY, how, state) for state, how in hows),
        command(QUERY, trace.KERNEL, RESET),
    ]


def command(number, how, state):
    return trace.Event(trace.COMMAND, how, 1, number, 0, state, 0, 0.0, "")


class Commands(unittest.TestCase):
    def counted(self, *clients, first):
        return connect.commands_of_server(trace, sum(clients, []), first, len(clients) - first)

    def test_what_a_spare_answers_is_not_waited_for(self):
        spare = client(trace.SPARE, trace.KERNEL)
        self.assertEqual(self.counted(client(trace.ADOPTED, trace.KERNEL), spare, spare, first=1), (4, 2))

    def test_the_first_clients_do_not_count(self):
        own = client(trace.KERNEL, trace.KERNEL)
        self.assertEqual(self.counted(own, own, client(trace.SPARE, trace.SPARE), first=2), (4, 0))

    def test_a_server_without_spares_waits_for_all(self):
        own = client(trace.RECORDED, trace.KERNEL)
        self.assertEqual(self.counted(own, own, first=1), (4, 4))


class Printed(unittest.TestCase):
    def test_several_programs_print_lists(self):
        printed = "read 2000\ntook 5000\nread 4000\n"
        self.assertEqual(connecting.figures(printed), {"read": [2000, 4000], "took": [5000]})

    def test_moments_are_no_times(self):
        self.assertEqual(connecting.by_verb({"read": [2000, 4000], "began": [1], "slot_7": [3]}), {"read": 3})

    def test_lookups_of_all_workers_add_up(self):
        slots = kvs.slots([{"slot_100": [5, 5], "slot_101": [4]}, {"slot_100": [1], "took": [9]}], began_ms=990)
        self.assertEqual((slots[10], slots[20], slots[0]), (11, 4, 0))
        self.assertIn((10, 1100), kvs.average([slots, slots]))


class Ports(unittest.TestCase):
    def test_all_are_free(self):
        first = connecting.free_port(3)
        for port in range(first, first + 3):
            with socket.socket() as each:
                each.bind(("", port))


if __name__ == "__main__":
    cases.main()
