# SPDX-License-Identifier: BSD-2-Clause
"""A program with a template, and clients that start it."""

import contextlib
import ctypes
import functools
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from support import cases, processes, sanitizers
from support.processes import children_of as children

SOURCES = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["WARMVERBS_BUILD"])
SUPERVISOR = str(BUILD / "src/template/warmverbs-template")
CLI = str(BUILD / "src/cli/warmverbs")
CLIENT = str(BUILD / "src/template/warmverbs-start")
SPY = str(BUILD / "tests/templates/spy")
MODULE = SOURCES / "src/template/python"
LAUNCHER = BUILD / "src/template/libwarmverbs-start.so.0"
LIMIT_S = 60
TOO_LATE = "timed out\n"  # no child answered, on a busy machine
EXECUTED = 99  # the status of a shell that is no start: see in_start()

# Meson sets them for all tests. libc and its loader read them, so they would differ in tests with other environments.
for name in ("LD_LIBRARY_PATH", "MALLOC_PERTURB_"):
    os.environ.pop(name, None)


sys.path.insert(0, str(MODULE))

until = functools.partial(processes.until, limit_s=LIMIT_S)


def all_processes():
    return [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read().split("\0")[:-1]
    except OSError:
        return []


def run_client(socket, argv, **kwargs):
    """Runs a client until a child has answered it in time; else it has executed the program."""
    for _ in cases.attempts():
        result = subprocess.run([CLIENT, "--socket", socket, *argv], capture_output=True, text=True, errors="replace",
                                timeout=LIMIT_S, check=False, **kwargs)
        if TOO_LATE not in result.stderr:
            break
    return result


def in_start(template, script):
    """Of a shell: what must not run in the test's own process group, as if a client has executed it."""
    return f"test $PPID = {template.process.pid} || exit {EXECUTED}; {script}"


def exitcode(started):
    """Of what launch() has started, once it has ended."""
    if not select.select([started], [], [], LIMIT_S)[0]:
        raise AssertionError(f"no end within {LIMIT_S} s")
    return os.waitstatus_to_exitcode(started.wait())


def supervisors(folder):
    """Those that starts have made, whose templates listen in this folder."""
    found = [process for process in all_processes() if any(word.startswith(str(folder)) for word in cmdline(process))]
    # A child of one has its arguments until it executes the program.
    young = {child for process in found for child in children(process)}
    return [process for process in found if process not in young]


def end_supervisors(folder):
    def are_gone():
        found = supervisors(folder)
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        return not found
    until(are_gone, "the end of all supervisors")


class Template:
    def __init__(self, folder, program, env=None, prefix=(), **options):
        self.socket = str(folder / "template")
        options = [word for name, value in options.items()
                   for word in ([f"--{name}"] if value is None else [f"--{name}", str(value)])]
        self.process = subprocess.Popen(
            [*prefix, SUPERVISOR, "--socket", self.socket, *options, "--", program], env=env,
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def await_ready(self, n=1):
        """Waits until so many children wait, besides the template itself."""
        until(lambda: self.process.poll() is not None or len(children(self.process.pid)) >= n + 1, "ready children")
        return self

    def errors(self):
        """Waits for the end, too."""
        return self.process.communicate(timeout=LIMIT_S)[1]

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.errors()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="template."))
        self.addCleanup(shutil.rmtree, self.folder)

    def template(self, program=SPY, **kwargs):
        made = Template(self.folder, program, **kwargs)
        self.addCleanup(made.stop)
        return made

    def start(self, template, *argv, **kwargs):
        """Started from the template, or executed: see all_started()."""
        kwargs.setdefault("env", {**os.environ})["WARMVERBS_VERBOSE"] = "1"
        with open(self.folder / "clients", "ab") as said:
            return subprocess.Popen([CLIENT, "--socket", template.socket, *argv], **{"stderr": said, **kwargs})

    @staticmethod
    def launch(template, argv, stdin=None, output=None):
        """Started from the template by this process, and never executed, however long that takes: what the module of
        Python has of it. @stdin, @output: descriptors."""
        import warmverbs_template  # pylint: disable=import-outside-toplevel
        ctypes.CDLL(LAUNCHER)  # which the module finds by its name
        with open(os.devnull, "r+b", buffering=0) as nothing:
            fds = [nothing.fileno() if fd is None else fd for fd in (stdin, output, output)]
            return warmverbs_template.start(template.socket, argv, fds=fds, timeout=LIMIT_S)

    def all_started(self):
        """What start() began, and nothing of it was executed, but for want of time."""
        said = (self.folder / "clients").read_text(encoding="utf-8")
        self.assertEqual([line for line in said.splitlines() if "executed" in line and TOO_LATE.strip() not in line], [])

    def run_both(self, template, argv, **kwargs):
        """What a program says and how it ends: executed, and started from its template."""
        kwargs.setdefault("env", {**os.environ})["WARMVERBS_VERBOSE"] = "1"
        template.await_ready()
        plain = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False,
                               **kwargs)
        return plain, run_client(template.socket, argv, **kwargs)


def main(why_not=None):
    cases.main("a sanitizer's runtime, with memory of its own, would be in each program"
               if sanitizers.runtimes(SUPERVISOR) else why_not)
