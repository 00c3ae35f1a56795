# SPDX-License-Identifier: BSD-2-Clause
"""The daemon of a case."""

import json
import os
import signal
import subprocess

from support import pools, processes

from . import resources
from .report import Failure, require, require_equal


class Daemon:
    """A daemon with a socket, a state folder and a log in a folder of its own."""

    def __init__(self, build, folder, options=(), prefix=()):
        self.folder = folder
        self.socket = folder / "socket"
        self.log = folder / "daemon.log"
        self._command = [*prefix, str(build.daemon), "--socket", str(self.socket),
                         "--state-dir", str(folder / "state"), "--log-level", "debug", *options]
        self._command_line = [build.command_line]
        self._process = None
        self._other_descriptors = None

    @property
    def pid(self):
        return self._process.pid

    @property
    def running(self):
        return self._process is not None and self._process.poll() is None

    def start(self):
        (self.folder / "state").mkdir(mode=0o700, exist_ok=True)
        before = len(self.log_text())
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log,
                                             stdin=subprocess.DEVNULL)
        ready = resources.until(lambda: not self.running or "listening on" in self.log_text()[before:], 20)
        require(ready and self.running, f"the daemon does not start: {' '.join(self._command)}")
        self._other_descriptors = resources.steady(lambda: resources.other_descriptors(self.pid), 3)
        return self

    def stop(self):
        """Ends it by SIGTERM: it must end soon, with status 0."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            status = processes.wait(process, 10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Failure("the daemon does not end when it is told to") from None
        require_equal(status, 0, "exit status of the daemon")

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._process = None

    def pause(self):
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.pid, signal.SIGCONT)

    def ufiles(self):
        """How many pooled leases it holds."""
        return resources.ufiles(self.pid)

    def settle(self):
        """Waits until it makes no more leases; returns how many it has."""
        return resources.steady(self.ufiles)

    def await_leases(self, least=1):
        """Waits until there are leases, and it makes no more."""
        require(resources.until(lambda: self.ufiles() >= least, resources.LIMIT_S),
                f"the daemon has {self.ufiles()} leases ready, not {least}")
        return self.settle()

    def await_full(self):
        """Waits until no program is connected, and each recipe has as many leases as it wants, at least one."""
        def full():
            status = self.status()  # who asks is connected, too
            return status["clients"]["connected"] == 1 and pools.are_full(status["recipes"])
        if not resources.until(full, resources.LIMIT_S):
            raise Failure(f"the pools are not full: {self.status()}")

    def status(self):
        return self._ask("status")

    def peers(self):
        return self._ask("peers")["peers"]

    def _ask(self, question):
        words = [*self._command_line, question, "--json", "--socket", self.socket]
        return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)

    def user_sockets(self):
        """How many it listens at, besides the common one."""
        return len(os.listdir(f"{self.socket}.users"))

    def check_descriptors(self):
        """Checks that it holds no more descriptors than at its start, besides pooled leases and sockets of users."""
        def extra():
            return resources.other_descriptors(self.pid) - self._other_descriptors - self.user_sockets()
        if not resources.until(lambda: extra() <= 0, resources.LIMIT_S):
            raise Failure(f"descriptors of the daemon: {sorted(resources.descriptors(self.pid).values())}, "
                          f"{self._other_descriptors} of them at its start")

    def check_ufiles(self, base, objects=resources.counts):
        """Checks that only the daemon holds uverbs files."""
        seen = "it always makes leases"

        def none_extra():
            nonlocal seen
            held = self.ufiles()
            found = objects().get("ctx", 0) - base.get("ctx", 0)
            if self.ufiles() != held:  # It makes leases.
                return False
            seen = f"{found - held} leases are nobody's but open"
            return found == held
        if not resources.until(none_extra, resources.LIMIT_S):
            raise Failure(f"uverbs files besides those of the daemon: {seen}")

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""


def socket_folder(folder):
    """A folder that other users can look into, as /run/warmverbs is."""
    path = folder / "daemon"
    path.mkdir()
    path.chmod(0o755)
    return path
