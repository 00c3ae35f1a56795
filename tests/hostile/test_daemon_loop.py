#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The daemon's loop makes only the system calls that docs/security.md lists, and none that may wait."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

from support import attacks, bed, hostile, peering, users

PAGE = pathlib.Path(__file__).parents[2] / "docs/security.md"
HEADING = "## The loop waits for nobody"
TRACED_S = 5
LEASES = 10
STEPS = 20
# In one call's arguments. sendmsg() and recvmsg() on a netlink socket are to the kernel.
NEVER_WAITS = {
    "poll": re.compile(", 0$"),
    "recvfrom": re.compile("MSG_DONTWAIT"),
    "recvmsg": re.compile(r"MSG_DONTWAIT|<NETLINK:"),
    "sendmsg": re.compile(r"MSG_DONTWAIT|<NETLINK:"),
    "statx": re.compile("AT_STATX_DONT_SYNC"),
    "ioctl": re.compile("SIOCOUTQ|TIOCOUTQ"),
}
CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+)")
RECEIVED = re.compile(r"cmsg_type=SCM_RIGHTS, cmsg_data=\[([^]]*)\]")
NUMBER = re.compile(r"(?:^|, )(\d+)")
PIDFD = re.compile(r"<pid:\d+>|anon_inode:\[pidfd\]")
OPENING = {"openat", "memfd_create", "pidfd_open", "socket", "eventfd2", "signalfd4"}


def listed():
    """The names in the first column of the list's table."""
    section = PAGE.read_text(encoding="utf-8").partition(HEADING)[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    # What is in parentheses says more about a call.
    return {name for row in rows for name in re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", row))}


def foreign_closed(calls, own):
    """The calls that close a descriptor which the loop did not open itself; @own are those that it had."""
    for name, arguments, result in calls:
        if name in OPENING:
            own.add(int(result))
        elif name == "accept4":
            own.discard(int(result))
        elif name == "recvmsg" and "MSG_PEEK" in arguments and result == "0":
            own.add(int(NUMBER.match(arguments)[1]))  # nothing waits on it
        elif name == "recvmsg":
            own -= {int(fd) for data in RECEIVED.findall(arguments) for fd in NUMBER.findall(data)}
        elif name == "close":
            fd = int(NUMBER.match(arguments)[1])
            # A pidfd also comes by getsockopt(SO_PEERPIDFD), which strace may not know.
            if fd not in own and not PIDFD.search(arguments):
                yield f"close({arguments})"
            own.discard(fd)


class Loop(hostile.Case):
    @contextlib.contextmanager
    def traced(self, path):
        """Traces the loop, which is the daemon's first thread, while the block lasts."""
        strace = shutil.which("strace")
        if not strace:
            raise unittest.SkipTest("there is no strace")
        process = subprocess.Popen([strace, "-yy", "-s", "256", "-o", path, "-p", str(self.daemon.pid)], env=bed.CLEAN,
                                   stderr=subprocess.PIPE, text=True)
        said = process.stderr.readline()
        if "attached" not in said:
            process.wait()
            raise unittest.SkipTest(f"strace cannot attach: {said.strip()}")
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()

    def load(self):
        """Honest traffic, and all attacks at once."""
        self.victim_leases(LEASES, 0.1)
        self.run_warm("open pd cq qp:rc move:init")
        self.as_user(users.VICTIM, self.client.answer, op="status")
        self.as_user(users.VICTIM, self.client.answer, op="forget", id="all")
        if peering.are_on():
            with self.going(attacks.KeeperFlood) as going:  # by itself: beside the others, there is no room for it
                going.await_steps(STEPS)
        with self.going(*attacks.ALL.values()):
            self.victim_leases(LEASES, TRACED_S / LEASES)

    def test_calls(self):
        path = self.folder / "calls"
        self.victim_learns()  # and the stand-in has made its own connection
        own = {int(fd) for fd in os.listdir(f"/proc/{self.daemon.pid}/fd")}
        with self.traced(path):
            self.load()
        calls = [match.groups() for match in map(CALL.match, path.read_text(errors="replace").splitlines()) if match]
        self.assertGreater(len(calls), 1000)
        self.assertEqual({name for name, *_ in calls} - listed(), set())
        waits = [f"{name}({rest})" for name, rest, _ in calls
                 if name in NEVER_WAITS and not NEVER_WAITS[name].search(rest)]
        self.assertEqual(waits, [], "calls that may wait")
        self.assertEqual(list(foreign_closed(calls, own)), [])


if __name__ == "__main__":
    bed.main()
