# SPDX-License-Identifier: BSD-2-Clause
"""What a client and a child of a template say to each other (src/template/start.h), spoken by hand."""

import array
import contextlib
import dataclasses
import os
import pathlib
import signal
import socket
import struct
import threading
import traceback

from support.processes import until

MAGIC, VERSION = 0x54535657, 1
MOST_NUMBERS, MOST_BYTES, MOST_FILES = 248, 128 << 10, 253  # files: of one message (unix(7))
READY, STARTED, REFUSED, ENDED = range(1, 5)
PROOF = 5  # its number in a supervisor
UNSEEN = 14  # of src/template/unseen.h
HEAD = struct.Struct(f"=IHHIIqQ{UNSEEN}q{MOST_NUMBERS}i")
ANSWER = struct.Struct("=Ii120s")
LIMIT_S = 60


@dataclasses.dataclass
class Request:
    """A struct wv_start. What is None is as it should be."""

    files: list  # the working directory, the program, the proof, and one for each of the numbers
    argv: list
    environ: list
    unseen: tuple
    blocked: int
    path: bytes = b"/bin/sh"
    numbers: tuple = (0, 1, 2)
    thread: int = dataclasses.field(default_factory=threading.get_native_id)
    magic: int = MAGIC
    version: int = VERSION
    n_fds: int | None = None
    argc: int | None = None
    envc: int | None = None

    def packed(self):
        n_fds, argc, envc = (len(those) if n is None else n for n, those in (
            (self.n_fds, self.numbers), (self.argc, self.argv), (self.envc, self.environ)))
        numbers = (*self.numbers, *[0] * MOST_NUMBERS)[:MOST_NUMBERS]
        head = HEAD.pack(self.magic, self.version, n_fds, argc, envc, self.thread, self.blocked, *self.unseen, *numbers)
        return head + b"".join(word + b"\0" for word in (self.path, *self.argv, *self.environ))


def unseen_of(message):
    """And the signals that are blocked, of a packed request."""
    fields = HEAD.unpack_from(message)
    return {"unseen": fields[7:7 + UNSEEN], "blocked": fields[6]}


@dataclasses.dataclass
class Answer:
    word: int | None  # None: the connection is closed
    value: int = 0
    why: str = ""
    files: tuple = ()


def descriptors(pid):
    """What they lead to; one may be closed meanwhile."""
    found = {}
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}")
    return found


class Client:
    """A connection to a template."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(LIMIT_S)
        self.sock.connect(path)

    def say(self, message, files=()):
        """Whether it can be said: not once the child has answered."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
        try:
            self.sock.sendmsg([message], rights)
        except BrokenPipeError:
            return False
        return True

    def hear(self):
        message, files, _, _ = socket.recv_fds(self.sock, 4096, MOST_FILES)
        if not message:
            return Answer(None)
        word, value, why = ANSWER.unpack(message)
        return Answer(word, value, why.rstrip(b"\0").decode(), tuple(files))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()


def say(connection, word, value=0, why=b"", files=()):
    socket.send_fds(connection, [ANSWER.pack(word, value, why)], files)


def take(connection):
    """A request, whose descriptors are closed."""
    message, files, _, _ = socket.recv_fds(connection, MOST_BYTES, MOST_FILES)
    for fd in files:
        os.close(fd)
    return message


class Template:
    """A process that listens like one, and calls @answer with each connection."""

    def __init__(self, folder, answer):
        self.socket = str(pathlib.Path(folder) / "fake")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket)
        self.pid = os.fork()
        if not self.pid:
            self._run(answer)
        until(lambda: os.path.exists(self.socket) or self.has_ended(), "the socket")

    def _run(self, answer):
        try:
            os.dup2(os.memfd_create("proof"), PROOF)  # in place of what the test has there, which no @answer uses
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            listener.bind(self.socket + ".new")
            listener.listen()
            os.rename(self.socket + ".new", self.socket)
            while True:
                # A client that has waited for too long has gone, and comes again.
                with listener.accept()[0] as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    answer(connection)
        except BaseException:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
        finally:
            os._exit(1)

    def has_ended(self):
        """With an exception: else it is killed."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ended = self.has_ended()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        if ended:
            raise AssertionError("the false template has failed: see above")
