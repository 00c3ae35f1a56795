# SPDX-License-Identifier: BSD-2-Clause
"""Running programs and collecting their output."""

import os
import re
import shlex
import signal
import subprocess
import time
from dataclasses import dataclass

from support import processes, trace

from .report import Failure

LIMIT_S = 180  # an emulated machine on a busy one


@dataclass
class Result:
    command: str
    status: int
    out: str
    err: str
    events: list  # trace.Event
    seconds: float

    def shape(self):
        """Exit status and output, without what differs in every run: numbers and blanks."""
        text = re.sub(r"0x[0-9a-fA-F]+|[0-9a-fA-F:.]*\d[0-9a-fA-F:.]*%?|-?\b(?:inf|nan)\b", "#", self.out)
        lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
        return self.status, [line for line in lines if line]

    def exact(self):
        return self.status, self.out


class Running:
    """A started program; its output goes to files."""

    def __init__(self, command, env, folder, name, trace_path=None):
        self.command = command
        self.name = name
        self.trace_path = trace_path
        self._paths = [folder / f"{name}.out", folder / f"{name}.err"]
        self._start = time.monotonic()
        self._result = None
        with open(self._paths[0], "wb") as out, open(self._paths[1], "wb") as err:
            self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=out,
                                            stderr=err, start_new_session=True)

    @property
    def pid(self):
        return self.process.pid

    def out(self):
        return self._paths[0].read_text(errors="replace")

    def await_text(self, text, seconds=LIMIT_S):
        """Waits until the program has printed the text."""
        end = time.monotonic() + seconds
        while text not in self.out():
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failure(f"{self.name} did not say {text!r}")
            time.sleep(0.01)

    def proceed(self):
        """Sends it an empty line of input."""
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        return self.wait()

    def terminate(self):
        self.process.terminate()
        return self.wait()

    def wait(self, limit=LIMIT_S):
        if self._result:
            return self._result
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            status = processes.wait(self.process, limit)
        except subprocess.TimeoutExpired:
            self.abort()
            raise Failure(f"{self.name} did not end within {limit} s") from None
        self._result = Result(shlex.join(self.command), status, self.out(),
                              self._paths[1].read_text(errors="replace"),
                              trace.read(self.trace_path) if self.trace_path else [],
                              time.monotonic() - self._start)
        return self._result

    def abort(self):
        """Kills it and all that it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def transcript(self):
        yield f"$ {shlex.join(self.command)}   [{self.name}: {self.process.poll()}]"
        for path in self._paths:
            for line in path.read_text(errors="replace").splitlines()[-40:]:
                yield f"  {line}"
        if self.trace_path:
            yield "  trace: " + " ".join(map(str, trace.read(self.trace_path)))
