# SPDX-License-Identifier: BSD-2-Clause
"""Attacks with descriptors: whoever closes one last waits for what is behind it."""

import contextlib
import ctypes
import errno
import os
import pathlib
import signal
import socket
import struct
import tempfile
import time

from .. import users, wire
from ..client import NODE
from ..users import libc, system_call
from .base import Attack, Impossible, Kept

MOST_KEPT = 32
REST_S = 0.002
# Closing our copy may be what waits, if the daemon was faster.
LOST_S = 0.05


class Sends(Attack):
    """Sends requests with descriptors that are no device."""

    rest_s = REST_S

    def send(self, fd):
        sock = self.connect()
        self.connections.add(sock)
        wire.send(sock, wire.request(), [fd])

    def prepare(self):
        self.connections = Kept(MOST_KEPT, socket.socket.close)


class LingeringSocket(Sends):
    """A TCP socket with unsent data and SO_LINGER: its last close() waits until the peer has read everything."""

    linger_s = 60

    def prepare(self):
        super().prepare()
        signal.signal(signal.SIGALRM, lambda *_: None)
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen()
        self._peers = []

    def step(self):
        if len(self._peers) == MOST_KEPT:  # who closes them waits until the peers end
            time.sleep(LOST_S)
            return
        sock = self._filled()
        try:
            self.send(sock.fileno())
        finally:
            signal.setitimer(signal.ITIMER_REAL, LOST_S)
            sock.close()
            left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        if not left:
            raise InterruptedError("our close() was the last one")

    def _filled(self):
        """A connected socket that holds data which its peer does not read."""
        sock = socket.socket()
        sock.connect(self._listener.getsockname())
        self._peers.append(self._listener.accept()[0])
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                sock.send(bytes(1 << 16))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, self.linger_s))
        return sock


class FuseFile(Sends):
    """A file of a FUSE file system in namespaces of the user's own: each close() waits for a server that is silent."""

    CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x20000
    MS_NOSUID, MS_NODEV = 2, 4
    LOOKUP, FORGET, GETATTR, OPEN, FLUSH, INIT, OPENDIR, INTERRUPT, BATCH_FORGET = 1, 2, 3, 14, 25, 26, 27, 36, 42
    REQUEST = struct.Struct("<IIQQ")
    ROOT, FILE = 1, 2

    def prepare(self):
        super().prepare()
        uid, gid = os.getuid(), os.getgid()
        # The mount ends with the namespace; the folder is left to who cleans up the test's.
        folder = tempfile.mkdtemp(prefix="fuse.", dir=self.target.scratch)
        try:
            system_call(libc.unshare(self.CLONE_NEWUSER | self.CLONE_NEWNS))
            pathlib.Path("/proc/self/setgroups").write_text("deny")
            pathlib.Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
            pathlib.Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
            self._device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
            options = f"fd={self._device},rootmode=40000,user_id=0,group_id=0"
            system_call(libc.mount(b"fuse", folder.encode(), b"fuse", self.MS_NOSUID | self.MS_NODEV,
                                   options.encode()))
        except OSError as error:
            raise Impossible(f"a user cannot mount FUSE here: {error}") from error
        # Who has the file waits for the server, also at its end. So the server is another process, this one: when it
        # ends, the kernel answers for it.
        users.fork(lambda: self._send_on(os.path.join(folder, "file")))

    def _send_on(self, path):
        users.die_with_parent()
        os.close(self._device)
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        while True:
            with contextlib.suppress(OSError):
                self.send(file)
            time.sleep(REST_S)

    def step(self):
        """Serves the kernel until somebody closes the file, who gets no answer."""
        while (request := self.REQUEST.unpack_from(os.read(self._device, 1 << 17)))[1] != self.FLUSH:
            self._serve(*request)

    def _serve(self, _, operation, unique, node):
        if operation in (self.FORGET, self.BATCH_FORGET, self.INTERRUPT):
            return
        answer = {
            self.INIT: lambda: struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 16, 16, 4096, 1, 0, 0, 0),
            self.GETATTR: lambda: struct.pack("<QII", 0, 0, 0) + self._attributes(node),
            self.LOOKUP: lambda: struct.pack("<QQQQII", self.FILE, 0, 0, 0, 0, 0) + self._attributes(self.FILE),
            self.OPEN: lambda: struct.pack("<QII", 1, 0, 0),
        }.get(operation)
        body = answer() if answer else b""
        error = 0 if answer else -errno.ENOSYS
        os.write(self._device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)

    def _attributes(self, node):
        mode = 0o40755 if node == self.ROOT else 0o100666
        return struct.pack("<QQQQQQIIIIIIIIII", node, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class NoDevice(Sends):
    """Descriptors of all kinds that prove no right to a device."""

    def prepare(self):
        super().prepare()
        self._fds = [os.open("/dev/null", os.O_RDWR), os.open("/", os.O_PATH), os.open("/", os.O_RDONLY),
                     os.open(NODE, os.O_PATH), *os.pipe(), os.memfd_create("hostile"), os.eventfd(0),
                     socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).detach()]

    def step(self):
        for fd in self._fds:
            self.send(fd)


class BigUfile(Sends):
    """A device file with many objects, which its user closes first: the last close() destroys them all."""

    rest_s = 0.05
    objects = 50

    def prepare(self):
        super().prepare()
        self._verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
        for name in ("ibv_get_device_list", "ibv_open_device", "ibv_create_cq"):
            getattr(self._verbs, name).restype = ctypes.c_void_p
        devices = self._verbs.ibv_get_device_list(None)
        self._first_device = ctypes.c_void_p(ctypes.c_void_p.from_address(devices).value)

    def step(self):
        # A child, since its context can't be closed without destroying what is in it.
        pid = users.fork(self._hand_over)
        _, status = os.waitpid(pid, 0)
        if status:
            raise OSError("refused")

    def _hand_over(self):
        users.die_with_parent()
        context = self._verbs.ibv_open_device(self._first_device)
        for _ in range(self.objects):
            self._verbs.ibv_create_cq(ctypes.c_void_p(context), 1, None, None, 0)
        ufiles = [int(name) for name in os.listdir("/proc/self/fd") if self._is_ufile(int(name))]
        try:
            self.send(max(ufiles))
        except OSError:
            os._exit(1)

    @staticmethod
    def _is_ufile(fd):
        with contextlib.suppress(OSError):
            return os.fstat(fd).st_rdev == os.stat(NODE).st_rdev
        return False
