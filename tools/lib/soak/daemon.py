# SPDX-License-Identifier: BSD-2-Clause
"""The daemon under test, and the count of leases that it handed out."""

import json
import pathlib
import signal
import subprocess
import time

from .bed import CLEAN
from .wrong import Wrong

START_SECONDS = 60
END_SECONDS = 60
ASK_SECONDS = 60
ASK_TIMES = 20  # where the machine is emulated, questions wait long behind recordings
NO_ANSWER = 3  # exit status


class Daemon:
    def __init__(self, build, bed, folder, out):
        self.folder = folder / "daemon"
        self.folder.mkdir()
        self.folder.chmod(0o755)
        self.socket = self.folder / "socket"
        self.state = folder / "state"
        self.log = out / "daemon.log"
        self._command_line = build.command
        self._command = [build.daemon, "--socket", self.socket, "--state-dir", self.state, "--refill-delay", "1",
                         "--group", "nogroup", "--log-level", "info"]
        self._env = {**CLEAN, "LD_PRELOAD": " ".join(bed.libraries())}
        self._process = None
        self.handed_out = 0
        self._hits = {}

    @property
    def pid(self):
        return self._process.pid

    def start(self):
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(self._command, env=self._env, stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=log)
        end = time.monotonic() + START_SECONDS
        while not self.ask("status", "--json", may_fail=True):
            self.check()
            if time.monotonic() > end:
                raise Wrong(f"the daemon does not answer {START_SECONDS} s after its start")
            time.sleep(0.01)
        self._hits = hits(self.status())

    def check(self):
        if self._process.poll() is not None:
            raise Wrong(f"the daemon ended by itself: {self._process.returncode}")

    def stop(self, number):
        """Ends it by a signal; what it handed out until now was counted."""
        self.check()
        self.count()
        self._process.send_signal(number)
        try:
            status = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise Wrong(f"the daemon does not end within {END_SECONDS} s of signal {number}") from None
        if status != (0 if number == signal.SIGTERM else -number):
            raise Wrong(f"the daemon ended with {status} after signal {number}")

    def signal(self, number):
        self.check()
        self._process.send_signal(number)

    def abort(self):
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def ask(self, *words, may_fail=False):
        """What a command of `warmverbs` prints."""
        for _ in range(1 if may_fail else ASK_TIMES):
            result = subprocess.run([self._command_line, *words, "--socket", self.socket], env=CLEAN,
                                    capture_output=True, check=False, timeout=ASK_SECONDS)
            if result.returncode != NO_ANSWER:
                break
        if result.returncode and not may_fail:
            self.check()
            raise Wrong(f"warmverbs {' '.join(words)} failed: {result.returncode} {result.stderr.decode()}")
        return b"" if result.returncode else result.stdout

    def status(self):
        return json.loads(self.ask("status", "--json"))

    def count(self):
        """Adds what was handed out since the last count. The rest is lost with a killed daemon or a forgotten recipe,
        so that the sum is never too high."""
        now = hits(self.status())
        self.handed_out += sum(max(0, n - self._hits.get(which, 0)) for which, n in now.items())
        self._hits = now

    def forget(self, what, nth=0):
        """All recipes, or the nth."""
        self.count()
        if what == "all":
            self.ask("recipes", "forget", "all")
            return
        ids = sorted(self._hits)
        if ids:  # It may be gone already.
            self.ask("recipes", "forget", ids[nth % len(ids)], may_fail=True)

    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.pid}/fd").iterdir()))

    def threads(self):
        return len(list(pathlib.Path(f"/proc/{self.pid}/task").iterdir()))

    def memory(self, field):
        """In KiB: VmRSS, RssShmem."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(status.partition(f"{field}:")[2].split()[0])


def hits(status):
    return {recipe["id"]: recipe["counters"]["hits"] for recipe in status["recipes"]}
