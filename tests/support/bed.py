# SPDX-License-Identifier: BSD-2-Clause
"""A daemon on the stand-in HCA, programs with and without it, and what the stand-in counted for them.

For tests that tests/standin/run starts: they find the socket of the stand-in in the environment.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from . import cases, client, peering, pools, processes, trace
from .processes import children_of, until
from .sanitizers import runtimes

LIMIT_S = 100
BUILD = pathlib.Path(os.environ["WARMVERBS_BUILD"])
WORDS = str(BUILD / "tests/programs/words")
LOADED = str(BUILD / "tests/programs/words-loaded")  # the same, but it loads libibverbs itself
DC_PINGPONG = str(BUILD / "tests/programs/dc_pingpong")
PRELOAD = str(BUILD / "src/preload/libwarmverbs.so.0")
DAEMON = str(BUILD / "src/daemon/warmverbsd")
CLI = str(BUILD / "src/cli/warmverbs")
STANDIN = os.environ["LD_PRELOAD"].split()[-1]
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("WARMVERBS_", "MLX", "HUGE_", "LD_PRELOAD", "PYTHON"))}

# tests/standin/protocol.h: a struct standin_request of STANDIN_CONTROL, before the text.
CONTROL = struct.pack("I164x", 4)

SANITIZED = bool(runtimes(PRELOAD))
TSAN = any("tsan" in runtime for runtime in runtimes(PRELOAD))
# A clone in root's home is of no use to other users.
ALL_MAY_READ = all(folder.stat().st_mode & 0o005 == 0o005 for folder in BUILD.resolve().parents)


def environment(program, warm, extra=None, lib=PRELOAD, standin=STANDIN):
    """What a program is started with: @lib (if warm) and the stand-in are preloaded. Most programs of tests have one
    thread, and get spares only if they are told to."""
    libs = [*([lib] if warm else []), standin]
    told = {"WARMVERBS_SPARES": "1"} if warm else {}
    # Programs may end without destroying anything; that is no leak. Nor is a thread of the library that has ended, which
    # the next one joins.
    return {**CLEAN, "LD_PRELOAD": " ".join([*runtimes(*libs, program), *libs]),
            "ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "report_thread_leaks=0", **told, **(extra or {})}


def own_threads(pid):
    """The threads of this library in a process. One may end meanwhile."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if (task / "comm").read_text() == "warmverbs\n":
                found.append(int(task.name))
    return found


def ctl(*words, env=CLEAN):
    """Asks the stand-in, of the node that the environment names, as `standin-hca ctl` does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.settimeout(LIMIT_S)
        sock.connect(env["STANDIN_SOCKET"])
        sock.send(CONTROL + " ".join(map(str, words)).encode())
        fd, = socket.recv_fds(sock, 4096, 1)[1]
    with open(fd, encoding="utf-8") as file:
        answer = json.load(file)
    if "error" in answer:
        raise AssertionError(f"ctl {words}: {answer['error']}")
    return answer


def counts(pid, kind="firmware", env=CLEAN):
    return ctl("counts", env=env).get(str(pid), {}).get(kind, {})


def library_threads(pid):
    """What the threads of the library in a process do: whether each sleeps, and how often it has."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        try:
            status = dict(line.split(":\t", 1) for line in (task / "status").read_text(encoding="utf-8").splitlines())
        except OSError:
            continue  # it has ended
        if status["Name"] == "warmverbs":
            found.append((status["State"], status["voluntary_ctxt_switches"]))
    return found


def is_at_rest(*pids, seconds=0.02):
    """Whether the device gets no commands, and no thread of the library in these processes and their descendants is
    about to give any: on a busy machine, it may get no processor between two commands."""
    def now():
        return ctl("counts"), [library_threads(pid) for pid in family]
    family = list(pids)
    for pid in family:
        family += children_of(pid)
    before = now()
    time.sleep(seconds)
    return now() == before and all(state.startswith("S") for threads in before[1] for state, _ in threads)


def minus(after, before):
    """What was counted between two readings."""
    difference = {name: n - before.get(name, 0) for name, n in after.items()}
    return {name: n for name, n in difference.items() if n}


def remarks(output, name):
    """The values of lines "# name value"."""
    return [line.split()[2] for line in output if line.startswith(f"# {name} ")]


class Result:
    """The result of a program."""

    def __init__(self, process, output, errors, marks, trace_path):
        self.pid = process.pid
        self.status = process.returncode
        self.lines = [line for line in output if not line.startswith(("#", "@"))]
        self.remarks = lambda name: remarks(output, name)
        self.errors = errors
        self.marks = marks
        self.events = trace.read(trace_path) if trace_path else []

    @property
    def failures(self):
        return [line for line in self.lines if " failed: " in line]

    def done(self, how):
        """What was made in this way: "get_context", "create_qp", "init", ..."""
        return trace.made(self.events, how)

    @property
    def adopted(self):
        return [e for e in self.events if e.kind == trace.COMMAND and e.how == trace.ADOPTED]

    @property
    def leased(self):
        return len(trace.opens(self.events, trace.ADOPTED))

    def shape(self):
        return self.status, self.lines


class Program:
    """A running program; at each of its "at" words it waits until go_on()."""

    def __init__(self, command, env, trace_path, kwargs):
        self._trace = trace_path
        self._env = env
        self._output, self._marks = [], {}
        self._errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self._errors, text=True, **kwargs)
        self.pid = self.process.pid

    def reach(self, name=None):
        """Reads its output up to the next "at", or the one of that name; returns the firmware commands given so far."""
        for line in self.process.stdout:
            self._output.append(line.rstrip("\n"))
            if line.startswith("@"):
                self._marks[line[1:].strip()] = counts(self.pid, env=self._env)
                if name in (None, line[1:].strip()):
                    return self._marks[line[1:].strip()]
                self.go_on()
        if name:
            raise AssertionError(f"never came to {name}: {self._output} {self.errors()}")
        return None

    def go_on(self, line=""):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def remarks(self, name):
        return remarks(self._output, name)

    def take(self):
        """What it has printed since the last time."""
        lines, self._output = self._output, []
        return lines

    def events(self):
        """What its trace holds so far."""
        return trace.read(self._trace)

    def errors(self):
        self._errors.seek(0)
        return self._errors.read()

    def finish(self):
        """Lets it go on through all "at"s to the end."""
        with contextlib.suppress(BrokenPipeError):
            if self._output and self._output[-1].startswith("@"):
                self.go_on()
            while self.reach() is not None:
                self.go_on()
        processes.wait(self.process, LIMIT_S)
        result = Result(self.process, self._output, self.errors(), self._marks, self._trace)
        self.close()
        return result

    def close(self):
        """Ends it if it has not ended."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self._errors):
            with contextlib.suppress(BrokenPipeError):
                file.close()


class Daemon:
    def __init__(self, folder, options=(), kwargs=None, env=None):
        self.folder = folder
        self.socket = folder / "socket"
        self.administrator = client.Client(f"{folder}-admin/socket")
        self._options = options
        self._kwargs = kwargs or {}
        self._env = env or {}
        self._process = None
        self.start()

    @property
    def pid(self):
        return self._process.pid

    def start(self, *more):
        (self.folder / "state").mkdir(mode=0o700, exist_ok=True)
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [DAEMON, "--socket", self.socket, "--state-dir", self.folder / "state", "--log-level", "debug",
                 "--refill-delay", "1", *self._options, *more],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**CLEAN, "LD_PRELOAD": " ".join([*runtimes(DAEMON), STANDIN]), **self._env},
                **self._kwargs)
        until(lambda: self._process.poll() is not None or self._answers(), "the daemon answers")
        if self._process.poll() is not None:
            raise AssertionError(f"the daemon does not start: {self.log()}")

    def _answers(self):
        try:
            return client.Client(self.socket).answer(op="status")
        except OSError:
            return None

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def status(self):
        """What `warmverbs status --json` prints. It is asked for so often that starting that takes most of the time."""
        return self.administrator.answer(op="status")

    def recipes(self, name):
        return [r for r in self.status()["recipes"] if r["key"]["name"] == name]

    def n_connected(self):
        """How many programs are connected, with the one that asks this."""
        return self.status()["clients"]["connected"]

    def n_connected_at_rest(self):
        """The same, not counting who asked before and has not been seen to end."""
        return min(self.n_connected() for _ in range(3))

    def forget(self, recipe):
        subprocess.run([CLI, "recipes", "--socket", self.socket, "forget", recipe["id"]], env=CLEAN,
                       capture_output=True, check=True, timeout=LIMIT_S)

    def await_ready(self, name):
        """Waits until each recipe of that name has as many pooled leases as the daemon wants, at least one."""
        def ready():
            recipes = self.recipes(name)
            return pools.are_full(recipes) and recipes
        return until(ready, f"leases of {name}; {self.recipes(name)}")

    def send_signal(self, number):
        self._process.send_signal(number)

    def stop(self, with_signal=signal.SIGTERM):
        if self._process and self._process.poll() is None:
            self._process.send_signal(with_signal)
            processes.wait(self._process, LIMIT_S)
        status = self._process.returncode
        if status not in (0, -signal.SIGKILL):
            raise AssertionError(f"the daemon ended with {status}: {self.log()[-4000:]}")


def make_folder():
    """For a daemon, and for the traces of its programs, which may run as others."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="leases."))
    folder.chmod(0o755)
    (folder / "traces").mkdir()
    (folder / "traces").chmod(0o777)
    return folder


def name_of(test):
    """A name for the recipes of a test."""
    return test.id().rpartition(".")[2].removeprefix("test_")[-31:]


class Runs:
    """Starts programs on a node, with and without its daemon. Needs folder, daemon, name and addCleanup()."""

    node_env = {}  # of another node than the one that the tests run on
    _runs = 0

    def start(self, words, warm, env=None, program=WORDS, lib=PRELOAD, name=None, **kwargs):
        """Starts the program of words, or another, by the command @prefix; preloads @lib (if warm) and @standin."""
        command = [program, *(words.split() if isinstance(words, str) else words)]
        command = [*kwargs.pop("prefix", []), *command]
        self._runs += 1
        path = self.folder / "traces" / f"{self.name}.{self._runs}"
        if warm:
            env = {"WARMVERBS_SOCKET": str(self.daemon.socket), "WARMVERBS_NAME": name or self.name,
                   "WARMVERBS_TRACE": str(path), **(env or {})}
        env = environment(program, warm, {**self.node_env, **(env or {})}, lib, kwargs.pop("standin", STANDIN))
        running = Program(command, env, path if warm else None, kwargs)
        self.addCleanup(running.close)
        return running

    def start_answered(self, words, at, **kwargs):
        """Starts a program that reaches @at and whose opens the daemon has answered by then: on a busy machine it may
        be late, and does not know of the program."""
        for _ in cases.attempts():
            running = self.start(words, True, **kwargs)
            running.reach(at)
            if not trace.unanswered(running.events()):
                return running
            running.close()
        raise AssertionError(f"no answer in {cases.PATIENCE} runs or more: {self.daemon.log()[-2000:]}")

    def run_plain(self, words, **kwargs):
        return self.start(words, False, **kwargs).finish()

    def run_warm(self, words, **kwargs):
        return self.start(words, True, **kwargs).finish()

    def learn(self, words, n=1, **kwargs):
        """Has the daemon learn what a program does at each of its @n opens, and waits for the leases."""
        name = kwargs.get("name") or self.name
        learned = None
        n_others = self.daemon.n_connected_at_rest()
        for _ in cases.attempts(free=1):
            result = self.run_warm(words, **kwargs)
            until(lambda: self.daemon.n_connected() <= n_others, "the last of the program's recording")
            learned = learned if learned and result.leased else result
            # A later open may have a lease of what the first one has taught.
            if result.status or trace.opens(trace.opens(learned.events)[:1], trace.ADOPTED):
                raise AssertionError(f"status {result.status}, {learned.leased} leases: {result.errors}")
            if len(self.daemon.recipes(name)) >= n:
                self.daemon.await_ready(name)
                return learned
        raise AssertionError(f"no recipe after {cases.PATIENCE} runs or more: {self.daemon.log()[-2000:]}")

    def await_leases(self):
        """After a run without a lease: waits for the leases, if the daemon has the run's recording. It may have none
        if it was late."""
        if self.daemon.recipes(self.name):
            self.daemon.await_ready(self.name)

    def run_leased(self, words, n=1, **kwargs):
        """Runs a program that there are leases for until each of its @n opens gets one."""
        for _ in cases.attempts():
            self.daemon.await_ready(kwargs.get("name") or self.name)
            result = self.run_warm(words, **kwargs)
            if result.leased == n:
                return result
        raise AssertionError(f"no lease in {cases.PATIENCE} runs or more: {result.lines} {self.daemon.log()[-2000:]}")


class Case(Runs, unittest.TestCase):
    """Each class of cases has a daemon; the recipes of each case have a name of their own."""

    daemon_options = ()
    daemon_kwargs = {}
    daemon_env = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = make_folder()
        cls.daemon = Daemon(cls.folder, (*peering.options(cls.folder), *cls.daemon_options), cls.daemon_kwargs,
                            cls.daemon_env)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.name = name_of(self)

    def compare(self, words, learned=None, failures=0, **kwargs):
        """Compares a plain run with one that has a lease of @words or @learned; returns the latter."""
        plain = self.run_plain(words, **kwargs)
        self.assertEqual((plain.status, len(plain.failures)), (0, failures), plain.lines + [plain.errors])
        self.learn(learned or words, **kwargs)
        warm = self.run_leased(words, **kwargs)
        self.assertEqual(warm.shape(), plain.shape(), warm.errors)
        return warm


def main(tsan=None):
    """@tsan: what makes a run with ThreadSanitizer needless."""
    cases.main(tsan if TSAN else None)
