#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Thousands of starts, while clients, starts, waiting children and templates are killed: each start ends with the
status that its program was told or with the signal that ended it, and nothing is left.

STORM_STARTS: how many starts (1000). STORM_SEED: of what is random.
"""

import concurrent.futures
import contextlib
import os
import random
import select
import shutil
import signal
import subprocess
import threading
import time

import template
from support.processes import is_alive
from template import children, until

STARTS = int(os.environ.get("STORM_STARTS", "1000"))
SEED = int(os.environ.get("STORM_SEED", random.randrange(1 << 32)))
WORKERS = 4  # fewer than the children that may end without a start, one after the other
TEMPLATES = 8
PAUSE_S = 0.003


def kill(pidfd, number=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, number)


def wait_for(pidfd):
    if not select.select([pidfd], [], [], template.LIMIT_S)[0]:
        raise AssertionError(f"no end within {template.LIMIT_S} s")


class Generation:
    """A template, and which children of its supervisor were killed without regard to what they are."""

    def __init__(self, folder, program):
        folder.mkdir()
        self.made = template.Template(folder, program).await_ready()
        self.supervisor = self.made.process.pid
        self.template = os.pidfd_open(children(self.supervisor)[0])
        self.at_rest = self.descriptors()
        self.killed = set()
        self.ends = False

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.supervisor}/fd"))

    def kill_child(self, chance):
        """One that waits, most often: it may have become a start."""
        with contextlib.suppress(OSError, IndexError):
            pid = chance.choice(children(self.supervisor)[1:])
            pidfd = os.pidfd_open(pid)
            try:
                if pid in children(self.supervisor)[1:]:  # else its number may be that of another process by now
                    self.killed.add(pid)
                    kill(pidfd)
            finally:
                os.close(pidfd)

    def end(self, chance):
        """By the end of the template, or because it is told to."""
        self.ends = True
        if chance.random() < 0.5:
            kill(self.template)
        else:
            self.made.process.terminate()


class Storm(template.Case):
    def setUp(self):
        super().setUp()
        print(f"seed: {SEED}", flush=True)
        self.program = str(self.folder / "sh")  # of which all processes are this test's
        shutil.copy("/bin/sh", self.program)
        self.silence, writer = os.pipe()  # a program reads from it until it is killed
        self.addCleanup(os.close, self.silence)
        self.addCleanup(os.close, writer)
        self.lock = threading.Lock()
        self.generations = []
        self.addCleanup(self.end_all)

    def end_all(self):
        """What was said on the way."""
        said = [generation.made.stop() for generation in self.generations]
        while self.generations:
            os.close(self.generations.pop().template)
        return said

    def current(self):
        with self.lock:
            if not self.generations or self.generations[-1].ends:
                folder = self.folder / str(len(self.generations))
                self.generations.append(Generation(folder, self.program))
            return self.generations[-1]

    def begin(self, script):
        """A start, and of which template."""
        end = time.monotonic() + template.LIMIT_S
        while time.monotonic() < end:
            generation = self.current()
            with contextlib.suppress(OSError):  # the child, or the template, was killed just then
                return self.launch(generation.made, [self.program, "-c", script], stdin=self.silence), generation
        raise AssertionError(f"no start within {template.LIMIT_S} s")

    def check(self, begun, expected):
        """That it ends like this, unless it was killed by its number. Returns what is wrong."""
        started, generation = begun
        with started:
            found = template.exitcode(started)
            may_be = {expected, -signal.SIGKILL} if started.pid in generation.killed else {expected}
            return [] if found in may_be else [f"{found} for {expected}"]

    def end_by_itself(self, chance):
        status = chance.randrange(256)
        return self.check(self.begin(f"exit {status}"), status)

    def kill_start(self, chance):
        begun = self.begin("read line")
        number = chance.choice([signal.SIGKILL, signal.SIGTERM])
        time.sleep(chance.random() * PAUSE_S)
        kill(begun[0].pidfd, number)
        return self.check(begun, -number)

    def leave_start(self, chance):
        """The client closes its connection."""
        started, _ = self.begin("read line")
        pidfd = os.dup(started.pidfd)
        time.sleep(chance.random() * PAUSE_S)
        started.close()
        wait_for(pidfd)
        os.close(pidfd)
        return []

    def kill_client(self, chance):
        """Anywhere on its way: its start ends, too, or was none."""
        argv = [template.CLIENT, "--socket", self.current().made.socket, self.program, "-c", "read line"]
        with subprocess.Popen(argv, stdin=self.silence, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as client:
            time.sleep(chance.random() * PAUSE_S)
            client.kill()
        return [] if client.returncode == -signal.SIGKILL else [f"{client.returncode} of a client that was killed"]

    def kill_child(self, chance):
        """And a start afterwards: a supervisor takes many that end without one for a program that is of no use."""
        self.current().kill_child(chance)
        return self.end_by_itself(chance)

    def one(self, i):
        chance = random.Random(SEED + i)
        if i % (STARTS // TEMPLATES) == STARTS // TEMPLATES - 1:
            self.current().end(chance)
        often = {self.end_by_itself: 16, self.kill_start: 2, self.leave_start: 1, self.kill_client: 1,
                 self.kill_child: 2}
        return chance.choices(list(often), often.values())[0](chance)

    def processes(self):
        found = []
        for pid in template.all_processes():
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/exe") == self.program:
                    found.append(pid)
        return found

    def test_storm(self):
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
            wrong = [what for some in workers.map(self.one, range(STARTS)) for what in some]
        self.assertEqual(wrong, [])
        last = self.current()
        until(lambda: last.descriptors() == last.at_rest, "a supervisor at rest")
        until(lambda: all(map(is_alive, children(last.supervisor))), "no zombie")
        generations = list(self.generations)
        self.assertEqual(self.end_all(), [""] * len(generations))
        self.assertEqual([generation.made.process.returncode for generation in generations], [0] * len(generations))
        until(lambda: not self.processes(), "the end of all processes")


if __name__ == "__main__":
    template.main()
