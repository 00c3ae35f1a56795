# SPDX-License-Identifier: BSD-2-Clause
"""Performs the actions, and compares with the base at the end and now and then."""

import ctypes
import itertools
import signal
import socket
import time

from products import ROOT
from suite import resources

from . import base, jobs, plan
from .bed import published
from .crew import Crew
from .daemon import Daemon
from .progress import Progress
from .wrong import Wrong

PR_SET_CHILD_SUBREAPER = 36
COUNT_SECONDS = 1
SETTLE_SECONDS = 240
STEADY_TIMES, STEADY_PAUSE = 20, 0.1
LEARN_RUNS = 2
POLL_SECONDS = 0.005
FIRST_PORT, PORTS = 12000, 18000


class Soak:
    """What jobs work with, too."""

    def __init__(self, bed, build, work, out):
        work.chmod(0o755)
        self.bed = bed
        self.published = published(work, build, ROOT)
        bed.publish(self.published)
        self.daemon = Daemon(build, bed, work, out)
        self.crew = Crew(bed.at_once)
        self.expected = {}
        self.settled = self.restarts = self.pauses = self.removals = 0
        self._out = out
        self._jobs = work / "jobs"
        self._jobs.mkdir()
        self._jobs.chmod(0o755)
        self._numbers = itertools.count()
        self._ports = itertools.cycle(range(FIRST_PORT, FIRST_PORT + PORTS))
        self._counted = 0
        self._last = None
        self._progress = Progress(self.report)

    def new_folder(self, user):
        return jobs.folder_for(self._jobs, next(self._numbers), user)

    def new_port(self):
        for port in self._ports:
            with socket.socket() as probe:
                try:
                    probe.bind(("", port))
                except OSError:
                    continue
                return port

    def run(self, seed, minutes=None, actions=None):
        """The exit status."""
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._seconds = minutes * 60 if minutes else float("inf")
        self._until, self._actions = float("inf"), actions
        self._start = time.monotonic()
        status = 1
        try:
            self.go_through(seed)
            status = 0
        except Wrong as error:
            self._progress.end()
            print(f"soak: seed {seed}, action {self._last}: {error}")
            number = self._last.number if self._last else 1
            print(f"soak: the same again: tools/soak --bed {self.bed.name} --seed {seed} --actions {number}")
        finally:
            self.crew.abort()
            self.daemon.abort()
        self.summarise(status)
        return status

    def go_through(self, seed):
        if len(self.bed.users) == 1:
            print("soak: without root, all programs run as one user")
        objects = self.bed.objects()
        self.daemon.start()
        self.learn()
        self.warm_up()
        self.find_base(objects)
        self._start = time.monotonic()
        self._until = self._start + self._seconds
        with open(self._out / "actions.log", "w", buffering=1) as log:
            for action in plan.sequence(seed, self.bed):
                self.await_room()
                if time.monotonic() > self._until or (self._actions and action.number > self._actions):
                    break
                self._last = action
                log.write(f"{time.monotonic() - self._start:.3f} {action}\n")
                self.perform(action)
        self.settle()
        self.daemon.stop(signal.SIGTERM)
        self._progress.end()

    def learn(self):
        """What programs do plainly; more than once, since only what is the same in each run can be compared."""
        wanted = [plan.Action(0, "program", {"program": name}) for name in self.bed.programs]
        wanted += [plan.Action(0, "family", {"words": name, "children": 1}) for name in self.bed.storms]
        for action in wanted:
            for _ in range(LEARN_RUNS):
                self.await_room()
                self.crew.give(jobs.KINDS[action.kind](self, action, warm=False))
        self.await_idle()

    def warm_up(self):
        """The base has what the daemon keeps: each user ran something, and pools were full."""
        options = {"words": min(self.bed.eaters), "children": 100, "at_once": 8}
        for user in range(len(self.bed.users)):
            for _ in range(2):
                self.crew.give(jobs.Zygote(self, plan.Action(0, "eaters", {**options, "user": user})))
        self.await_idle()

    def perform(self, action):
        own = getattr(self, f"do_{action.kind}", None)
        if own:
            own(**action.options)
            return
        for _ in range(action.options.get("times", 1) if action.kind == "crowd" else 1):
            self.crew.give(jobs.KINDS[action.kind](self, action))

    def do_settle(self):
        self.settle()

    def do_forget(self, what, nth):
        self.daemon.forget(what, nth)

    def do_pause(self, for_ms):
        self.daemon.signal(signal.SIGSTOP)
        time.sleep(for_ms / 1000)
        self.daemon.signal(signal.SIGCONT)
        self.pauses += 1

    def do_restart(self, down_ms, **how):
        self.daemon.stop(getattr(signal, f"SIG{how['with']}"))
        time.sleep(down_ms / 1000)
        self.daemon.start()
        self.restarts += 1

    def do_removal(self):
        self.crew.excuse_all()
        removal = self.bed.remove()
        end = time.monotonic() + SETTLE_SECONDS
        while removal.poll() is None:
            self.watch()
            if time.monotonic() > end:
                raise Wrong(f"the removal of the device does not end within {SETTLE_SECONDS} s")
            time.sleep(POLL_SECONDS)
        if removal.returncode or not self.bed.come_back():
            raise Wrong("the device cannot be removed, or does not come back")
        self.crew.kill_excused()
        self.removals += 1

    def watch(self):
        """To be called often."""
        self.daemon.check()
        if self.crew.wrong:
            self._last, text = self.crew.wrong[0]
            raise Wrong(text)
        if time.monotonic() > self._counted + COUNT_SECONDS:
            self._counted = time.monotonic()
            self.daemon.count()
        self._progress.tick()

    def await_room(self):
        self.watch()
        while not self.crew.has_room():
            time.sleep(POLL_SECONDS)
            self.watch()

    def await_idle(self):
        while not self.crew.is_idle():
            time.sleep(POLL_SECONDS)
            self.watch()

    def measure(self):
        self.watch()
        self.daemon.forget("all")
        return base.measure(self.bed, self.daemon, self._jobs)

    def find_base(self, objects):
        """Recipes are forgotten at once, but leases are closed a little later."""
        nothing = {"kernel objects": objects, "processes": [], "files of programs": [], "files of state": []}
        self.await_base(nothing)
        # On a busy machine the daemon is still closing what has ended.
        self._base = resources.steady(self.measure, STEADY_TIMES, STEADY_PAUSE, SETTLE_SECONDS)
        self._memory = base.memory(self.daemon)

    def await_base(self, wanted):
        end = time.monotonic() + SETTLE_SECONDS
        while left := base.differences(wanted, self.measure()):
            if time.monotonic() > end:
                raise Wrong(f"left behind: {'; '.join(left)}")
            time.sleep(0.1)

    def settle(self):
        """Lets all end; then everything must come to its base."""
        self.await_idle()
        self.await_base(self._base)
        if grown := base.growth(self._memory, base.memory(self.daemon)):
            raise Wrong(f"grown: {'; '.join(grown)}")
        self.settled += 1

    def report(self):
        seconds = self._until - time.monotonic()
        left = "" if seconds == float("inf") else f"{max(0, seconds):.0f} s left, "
        number = self._last.number if self._last else 0
        return f"{left}action {number}: {self.counts()}"

    def counts(self):
        return f"{self.daemon.handed_out} leases, {self.crew.forks} forks, {self.crew.kills} kills"

    def summarise(self, status):
        minutes = (time.monotonic() - self._start) / 60
        actions = self._last.number if self._last else 0
        print(f"soak: {minutes:.1f} minutes on {self.bed.name}, {actions} actions, {self.crew.done} programs,"
              f" {len(self.bed.users)} users, {self.restarts} restarts, {self.pauses} pauses, {self.removals} removals;"
              f" compared with the base {self.settled} times")
        print(f"soak: {self.counts()}: {'something was wrong' if status else 'nothing lost, no wrong result'}")
