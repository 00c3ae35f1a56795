# SPDX-License-Identifier: BSD-2-Clause
"""A zygote (tests/programs/zygote), and the children that it forks."""

import contextlib
import os
import signal
import socket
import struct
import subprocess

from . import processes

LIMIT_S = 100

# Words for children.
INIT = "open pd cq qp:rc move:init"
END = "destroy:qps destroy:cqs destroy:pd close"
END_SRQ = END.replace("destroy:cqs", "destroy:srq destroy:cqs")


class Child:
    """A child that does words; at each of its "at" words it waits until go_on()."""

    def __init__(self, zygote, pid, sock):
        self.pid = pid
        self.output = []
        self.status = None
        self._zygote = zygote
        self._sock = sock
        self._lines = sock.makefile("r")

    def reach(self, name):
        """Reads its output up to the "at" of that name."""
        for line in self._lines:
            self.output.append(line.rstrip("\n"))
            if line == f"@{name}\n":
                return self
        raise AssertionError(f"never came to {name}: {self.output} {self._zygote.errors()}")

    def go_on(self):
        self._sock.sendall(b"\n")

    def finish(self):
        """Waits for its end; returns itself. Not for a child that waits at an "at"."""
        self.read()
        self.status = self._zygote.wait(self.pid)
        return self

    def read(self):
        """Reads to the end of its output; returns itself. For processes that the zygote can't wait for."""
        with contextlib.suppress(ConnectionResetError):
            self.output += [line.rstrip("\n") for line in self._lines]
        self.close()
        return self

    def close(self):
        self._lines.close()
        self._sock.close()

    def remarks(self, name):
        """The values of lines "# name value"."""
        return [line.split()[2] for line in self.output if line.startswith(f"# {name} ")]

    @property
    def shape(self):
        """What is the same in every correct run."""
        return self.status, [line for line in self.output if not line.startswith(("#", "@", "at:"))]


class Zygote:
    """Asks a process for children. A child of a zygote may be a zygote as well."""

    def __init__(self, sock, pid, errors):
        self.pid = pid
        self.errors = errors  # a function
        self._sock = sock
        self._sock.settimeout(LIMIT_S)

    def ask(self, *words, fd=None):
        text = b"".join(str(word).encode() + b"\0" for word in words)
        if fd is None:
            self._sock.send(text)
        else:
            socket.send_fds(self._sock, [text], [fd])
        answer = self._sock.recv(4)
        if len(answer) != 4:
            raise AssertionError(f"the zygote ended when asked to {words[0]}: {self.ended()}")
        return struct.unpack("i", answer)[0]

    def ended(self):
        return self.errors()

    def fork(self, words):
        ours, theirs = socket.socketpair()
        ours.settimeout(LIMIT_S)
        with theirs:
            pid = self.ask("fork", *words.split(), fd=theirs.fileno())
        return Child(self, pid, ours)

    def run(self, words):
        """Forks a child and waits for its end."""
        return self.fork(words).finish()

    def storm(self, children, at_once, microseconds, words, seconds=LIMIT_S // 2):
        """Forks so many children, or as many as it can in that time. Returns how many failed."""
        return self.ask("storm", children, seconds, at_once, microseconds, *words.split())

    def zygote(self):
        """A child that is a zygote itself."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            pid = self.ask("zygote", fd=theirs.fileno())
        return Zygote(ours, pid, self.errors)

    def wait(self, pid):
        """The exit status of a child, or minus the signal that ended it."""
        return os.waitstatus_to_exitcode(self.ask("wait", pid))

    def end(self):
        """Lets it end."""
        self._sock.close()

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def mappings(self):
        with open(f"/proc/{self.pid}/maps", encoding="ascii", errors="replace") as maps:
            return sum(1 for _ in maps)

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))


class First(Zygote):
    """A zygote that a test starts itself."""

    def __init__(self, command, env, errors):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, open(errors, "ab") as stderr:
            self.process = subprocess.Popen(command, env=env, stdin=theirs, stdout=subprocess.DEVNULL, stderr=stderr,
                                            start_new_session=True)
        super().__init__(ours, self.process.pid, lambda: errors.read_text(errors="replace"))

    def end(self):
        """Lets it end; returns its exit status."""
        super().end()
        return processes.wait(self.process, LIMIT_S)

    def ended(self):
        return f"{processes.wait(self.process, LIMIT_S)} {self.errors()}"

    def kill(self):
        self.process.kill()
        return self.end()

    def abort(self):
        """Kills it and all that it started, unless it has ended: its pid may belong to another process then."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.end()

    def transcript(self):
        yield f"zygote {self.pid}: {self.process.poll()}"
        yield from self.errors().splitlines()[-40:]
