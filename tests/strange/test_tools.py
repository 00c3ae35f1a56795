#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs with a lease that are watched: traced, debugged, run on a simulated processor."""

import pathlib
import shutil
import signal
import subprocess
import unittest

from support import bed

LOOP = "open pd channel cq:channel qp:rc move:init,rtr,rts traffic:events destroy:qps destroy:cqs destroy:pd close"
FIRST, SECOND = "open pd cq qp:rc", "move:init,rtr,rts traffic destroy:qps destroy:cqs destroy:pd close"
# A command is sent to the stand-in with the bytes that the provider leaves as they are.
SENT_TO_THE_STANDIN = """{
   bytes of a command
   Memcheck:Param
   sendmsg(msg.msg_iov[3])
   ...
   fun:standin_call
}
"""


def needs(tool):
    return unittest.skipUnless(shutil.which(tool), f"{tool} is not installed")


class Tools(bed.Case):
    def check_watched(self, watch):
        """The program goes on after a tool has stopped it in the middle of its lease."""
        words = f"{FIRST} at:here {SECOND}"
        plain = self.run_plain(words)
        self.learn(words)
        self.daemon.await_ready(self.name)
        program = self.start(words, True)
        program.reach("here")
        watch(str(program.pid))
        warm = program.finish()
        self.assertEqual((warm.shape(), warm.leased), (plain.shape(), 1), warm.errors)

    def run_tool(self, *command):
        return subprocess.run(command, env=bed.CLEAN, check=True, cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=bed.LIMIT_S).stdout

    @needs("strace")
    def test_strace(self):
        """`strace -f` from the start"""
        self.compare(LOOP, prefix=["strace", "-f", "-o", "/dev/null"])

    @needs("strace")
    def test_seized(self):
        """`strace -p` (PTRACE_SEIZE) in the middle, and gone again"""
        def watch(pid):
            with subprocess.Popen(["strace", "-f", "-o", "/dev/null", "-p", pid], env=bed.CLEAN, text=True,
                                  stderr=subprocess.PIPE) as tool:
                self.assertIn("attached", tool.stderr.readline())
                tool.send_signal(signal.SIGINT)
        self.check_watched(watch)

    @needs("gdb")
    def test_gdb(self):
        """gdb attaches in the middle, and detaches"""
        def watch(pid):
            self.assertIn("#0", self.run_tool("gdb", "--batch", "--nx", "-p", pid, "-ex", "bt"))
        self.check_watched(watch)

    @needs("gcore")
    @unittest.skipIf(bed.SANITIZED, "a sanitizer reserves terabytes of memory, which gcore would write")
    def test_gcore(self):
        """a core file of the running process (gcore)"""
        self.check_watched(lambda pid: self.run_tool("gcore", "-o", "core", pid))

    def test_core_dump(self):
        """a crash that writes a core file"""
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii")
        if pattern.startswith("|") or "/" in pattern:
            self.skipTest(f"core files go elsewhere: {pattern.strip()}")
        words = f"{FIRST} crash:core"
        folder = {True: self.folder / "warm", False: self.folder / "plain"}
        for path in folder.values():
            path.mkdir()
        plain = self.run_plain(words, cwd=folder[False])
        self.learn(f"{FIRST} move:init")
        warm = self.run_leased(words, cwd=folder[True])
        self.assertEqual(warm.shape(), plain.shape(), warm.errors)
        self.assertEqual(len(list(folder[True].iterdir())), len(list(folder[False].iterdir())))

    @needs("setarch")
    def test_fixed_addresses(self):
        """no address randomisation (`setarch -R`)"""
        self.compare(LOOP, prefix=["setarch", "-R"])

    def check_valgrind(self, *options):
        self.compare(LOOP, prefix=["valgrind", "--quiet", *options])

    @needs("valgrind")
    @unittest.skipIf(bed.SANITIZED, "valgrind does not run what is built for sanitizers")
    def test_memcheck(self):
        """valgrind, memcheck"""
        suppressions = self.folder / "suppressions"
        suppressions.write_text(SENT_TO_THE_STANDIN)
        self.check_valgrind("--error-exitcode=9", f"--suppressions={suppressions}")

    @needs("valgrind")
    @unittest.skipIf(bed.SANITIZED, "valgrind does not run what is built for sanitizers")
    def test_helgrind(self):
        """valgrind, helgrind"""
        self.check_valgrind("--tool=helgrind")


if __name__ == "__main__":
    bed.main()
