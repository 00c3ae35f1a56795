# SPDX-License-Identifier: BSD-2-Clause
"""The second machine of a lab, and what the first one may ask about it (guest/lab-peer)."""

import os
import signal

from .report import GuestError
from .session import Lines, write_all

FIRST = ""  # The first machine waits for the second one, but has not asked.


class Log:
    def __init__(self, descriptor):
        self.descriptor = descriptor

    def feed(self, data):
        write_all(self.descriptor, data)


class Peer:
    """Runs until stop(). `start` starts a machine; `wires` join it to the first machine: one for RDMA, one for control.
    `port` is the first machine's port for requests; `log`, a descriptor, gets the output of the machine's agent."""

    def __init__(self, start, wires, session, port, log):
        self.start = start
        self.rdma, self.control = wires
        self.session = session
        self.port = port
        self.log = log
        self.machine = None
        self.paused = self.partitioned = False
        self.awaited_by = FIRST
        self.actions = {
            "pause": self.pause,
            "resume": self.resume,
            "kill": self.stop,
            "partition": self.partition,
            "heal": self.heal,
        }
        session.watch(port, Lines(self.answer))
        self.boot()

    def boot(self):
        self.machine = self.start()
        for end, sink in zip(self.machine.ports, (Lines(self.hear), Log(self.log), Log(self.log))):
            self.session.watch(end, sink, "the second machine")
        self.connect()

    def connect(self):
        """A machine that stands still takes nothing from its wires: the control channel waits, RDMA packets do not."""
        self.control.set(self.machine is not None)
        self.rdma.set(self.machine is not None and not self.paused and not self.partitioned)

    def hear(self, report, detail):
        if report == "fail":
            raise GuestError(f"the second machine could not set itself up: {detail}")
        if report == "ready" and self.awaited_by is not None:
            self.reply(self.awaited_by, "ok")
            self.awaited_by = None

    def answer(self, asker, action):
        if action == "reboot":
            self.stop()
            self.awaited_by = asker
            self.boot()
        elif self.machine is None and action not in ("partition", "heal"):
            self.reply(asker, "the machine is off")
        else:
            self.actions[action]()
            self.connect()
            self.reply(asker, "ok")

    def reply(self, asker, text):
        self.port.sendall(f"{asker} {text}\n".encode())

    def pause(self):
        self.paused = True
        os.kill(self.machine.pid, signal.SIGSTOP)

    def resume(self):
        self.paused = False
        os.kill(self.machine.pid, signal.SIGCONT)

    def partition(self):
        self.partitioned = True

    def heal(self):
        self.partitioned = False

    def stop(self):
        if self.machine is not None:
            for end in self.machine.ports:
                self.session.ignore(end)
            self.machine.stop()
        self.machine = None
        self.paused = False
        self.connect()
