# SPDX-License-Identifier: BSD-2-Clause
"""One program, or a parent and its children, from the start to the check of the result. Each runs in a thread."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

from support import ports, zygote
from suite.lab import accepting

from .bed import CLEAN
from .wrong import Wrong

LIMIT_SECONDS = 600  # only what hangs takes so long
READY_SECONDS = 100
ENDING_SECONDS = 1
PYTHON = "/usr/bin/python3"  # which every user may run


class Job:
    """@action: who and what. @excused: whatever it prints is right, since the device was removed meanwhile."""

    def __init__(self, soak, action, warm=True):
        self.soak = soak
        self.action = action
        self.options = action.options
        self.warm = warm
        self.excused = False
        self.forks = self.kills = 0
        self._lock = threading.Lock()
        self._processes = []
        self._is_killed = False

    def run(self):
        """Raises Wrong."""
        self.folder = self.soak.new_folder(self.user)
        timer = None
        if "after_ms" in self.options:
            timer = threading.Timer(self.options["after_ms"] / 1000, self.kill)
            timer.start()
        try:
            self.work()
            if timer:
                timer.cancel()
        except (Wrong, AssertionError, OSError) as error:
            if not self.was_killed() and not self.excused:
                raise Wrong(f"{error}") from error
        finally:
            if timer:
                timer.cancel()
            self.kill(count=False)
            for process in self._processes:
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def user(self):
        return self.soak.bed.users[self.options.get("user", 0)]

    def compare(self, name, result, errors):
        """With what it is plainly, which the first plain run tells."""
        expected = self.soak.expected.setdefault(name, None if self.warm else result)
        if result != expected and not self.excused:
            raise Wrong(f"{name} as user {self.user}: {result}, but plainly {expected}; it says {errors}")

    def was_killed(self):
        return self._is_killed

    def kill(self, count=True):
        """Kills what runs now; after that the job starts nothing more."""
        with self._lock:
            for process in self._processes:
                if process.poll() is None:
                    self._is_killed = self._is_killed or count
                    self.kills += count
                    self.kill_one(process)

    def kill_one(self, process):
        kill_group(process)

    def abort(self):
        """Kills it and all that it started."""
        with self._lock:
            self._is_killed = True
            for process in self._processes:
                if process.poll() is None:  # else its number may be another's
                    kill_group(process)

    def environment(self, name="", extra=None):
        libraries = self.soak.bed.libraries()
        env = {**CLEAN, "TMPDIR": str(self.folder), **(extra or {})}
        if self.warm:
            libraries = [str(self.soak.published / "libwarmverbs.so.0"), *libraries]
            env["WARMVERBS_SOCKET"] = str(self.soak.daemon.socket)
            env["WARMVERBS_SPARES"] = "1"
            if name:
                env["WARMVERBS_NAME"] = name[-31:]
        if libraries:
            env["LD_PRELOAD"] = " ".join(libraries)
        return env

    def start(self, command, env, stdin=subprocess.DEVNULL):
        """Its output goes to files in the job's folder."""
        user = {"user": self.user, "group": 65534, "extra_groups": []} if self.user != os.geteuid() else {}
        n = len(self._processes)
        with open(self.folder / f"out.{n}", "wb") as out, open(self.folder / f"err.{n}", "wb") as err, self._lock:
            if self._is_killed:
                raise Wrong("killed")
            process = subprocess.Popen(command, env=env, cwd=self.folder, stdin=stdin, stdout=out, stderr=err,
                                       start_new_session=True, **user)
            self._processes.append(process)
        return process

    def await_end(self, process):
        try:
            return process.wait(LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.excused = False
            raise Wrong(f"{process.args[0]} does not end within {LIMIT_SECONDS} s") from None

    def output(self, n):
        return (self.folder / f"out.{n}").read_text(errors="replace")

    def errors(self, n):
        return (self.folder / f"err.{n}").read_text(errors="replace")


def kill_group(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class Program(Job):
    """A program alone, or a server and its client."""

    def work(self):
        name = self.options["program"]
        results = self.results(self.soak.bed.programs[name], name)
        if not self.was_killed():
            self.compare(name, results, [self.errors(n) for n in range(len(self._processes))])

    def results(self, program, name):
        """(status, shape of the output) of each command."""
        port = self.soak.new_port() if "PORT" in " ".join(map(" ".join, program.commands)) else 0
        processes = []
        for words in program.commands:
            env = self.environment(f"{name}.{len(processes)}" if program.ready else "", program.env)
            processes.append(self.start([self.word(word, port) for word in words], env))
            if len(processes) < len(program.commands):
                self.await_ready(program, processes[0], port)
        statuses = [self.await_end(process) for process in processes]
        return [(status, program.shape(self.output(n))) for n, status in enumerate(statuses)]

    def word(self, word, port):
        built = self.soak.published / word
        if built.is_file():
            return str(built)
        values = {"PORT": str(port), "ADDRESS": self.soak.bed.address, "FOLDER": str(self.folder)}
        for name, value in values.items():
            word = word.replace(name, value)
        return word

    def await_ready(self, program, process, port):
        ready = {"tcp": lambda: ports.is_listened_to(port), "cm": lambda: accepting(process),
                 "said": lambda: "listening" in self.output(0)}[program.ready]
        end = time.monotonic() + READY_SECONDS
        while not ready() and process.poll() is None and not self.was_killed():
            if time.monotonic() > end:
                raise Wrong(f"{process.args} does not listen")
            time.sleep(0.01)


class Zygote(Job):
    """A parent that forks children."""

    command = "storm"

    def work(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        sets = self.options.get("sets", 0)
        with theirs:
            env = self.environment(extra={"WARMVERBS_PREFORK": str(sets)} if sets and self.warm else None)
            process = self.start([str(self.soak.published / "zygote")], env, theirs)
        parent = zygote.Zygote(ours, process.pid, lambda: self.errors(0))
        ours.settimeout(LIMIT_SECONDS)
        with ours:
            try:
                self.use(parent)
            except (AssertionError, OSError) as error:
                time.sleep(ENDING_SECONDS)
                raise Wrong(f"{error}; the parent's exit status: {process.poll()}; {self.errors(0)}") from error
        if self.await_end(process) and not self.was_killed():
            raise Wrong(f"a parent of children ended with {process.returncode}: {self.errors(0)}")
        self.take_counts()

    def words(self):
        return {**self.soak.bed.storms, **self.soak.bed.eaters}[self.options["words"]]

    def use(self, parent):
        """No child may fail that is not killed."""
        within = self.options.get("within_us", 100_000_000)
        failed = parent.storm(self.options["children"], self.options["at_once"], within, self.words())
        if failed and not self.excused:
            raise Wrong(f"{failed} children of {self.options['words']} failed: {self.errors(0)[-2000:]}")

    def take_counts(self):
        for line in self.output(0).splitlines():
            if line.startswith("# storm "):
                self.forks += int(line.split()[2])
                self.kills += int(line.split()[4])

    def kill_one(self, process):
        """Its children live on."""
        with contextlib.suppress(ProcessLookupError):
            process.kill()


class Family(Zygote):
    """Each child's output counts."""

    def use(self, parent):
        for _ in range(self.options["children"]):
            shape = parent.run(self.words()).shape
            self.forks += 1
            self.compare(f"a child of {self.options['words']}", shape, self.errors(0))


class Request(Job):
    """A program that requests a pool until it is killed."""

    def work(self):
        process = self.start([str(self.soak.published / "example_pool")], self.environment(), subprocess.PIPE)
        time.sleep(self.options["for_ms"] / 1000)
        process.stdin.close()
        self.kill(count=False)


class Malformed(Job):
    def work(self):
        words = [self.soak.daemon.socket, str(self.options["seed"]), str(self.options["times"])]
        process = self.start([PYTHON, "-B", str(self.soak.published / "hostile.py"), *words], CLEAN)
        if self.await_end(process):
            raise Wrong(f"the malformed client failed: {self.errors(0)}")


class Question(Job):
    """Any user may ask; 3: there is no daemon now."""

    def work(self):
        for n in range(self.options["times"]):
            process = self.start([str(self.soak.published / "warmverbs"), "status", "--socket",
                                  str(self.soak.daemon.socket)], CLEAN)
            status = self.await_end(process)
            if status not in (0, 1, 3) or (status == 0 and not self.output(n)):
                raise Wrong(f"warmverbs status: {status} {self.errors(n)}")


KINDS = {
    "program": Program,
    "kill": Program,
    "crowd": Program,
    "eaters": Zygote,
    "family": Family,
    "storm": Zygote,
    "killed-family": Zygote,
    "request": Request,
    "malformed": Malformed,
    "question": Question,
}


def folder_for(parent, number, user):
    path = pathlib.Path(parent, str(number))
    path.mkdir()
    if user != os.geteuid():
        os.chown(path, user, 65534)
    return path
