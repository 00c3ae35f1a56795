# SPDX-License-Identifier: BSD-2-Clause
"""Daemons that are nodes of one cluster, on addresses of the loopback device; and a peer played in Python.

Needs no device. Node N is 127.0.0.N. A test's certificates are made by openssl, in its folder.
"""

import os
import pathlib
import signal
import socket
import ssl
import struct
import subprocess

from . import authority, client, ports, processes
from .authority import LIMIT_S
from .processes import until

BUILD = pathlib.Path(os.environ["WARMVERBS_BUILD"])
DAEMON = BUILD / "src/daemon/warmverbsd"
CLI = BUILD / "src/cli/warmverbs"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("WARMVERBS_", "LD_PRELOAD"))}

# src/daemon/peers/frame.h
MAGIC, VERSION = 0x57765072, 4
HELLO, PING, PONG, GOODBYE, FIRST_MESSAGE = 1, 2, 3, 4, 16
MOST_BODY = 4096


def are_on():
    """Whether the test is to run with peers and pairs."""
    return "WITH_PAIRS" in os.environ


def options(folder, owner=-1):
    """What gives a daemon peers and pairs, if the test is to run with these; @owner is its user."""
    if not are_on():
        return ()
    ca = authority.Authority(folder)
    certificate, key = ca.give("daemon", "IP:127.0.0.1")
    os.chown(key, owner, -1)
    return ("--pairs", "yes", "--peers", "any,127.0.0.2", "--peer-listen", f"127.0.0.1:{ports.free_port()}",
            "--peer-ca", str(ca.certificate), "--peer-certificate", str(certificate), "--peer-key", str(key))


class Node:
    """The daemon of node @number."""

    def __init__(self, folder, number, port, peers, ca, credentials, options=(), env=None):
        self.address = f"127.0.0.{number}"
        self.folder = pathlib.Path(folder) / f"node{number}"
        self.folder.mkdir(exist_ok=True)
        (self.folder / "state").mkdir(mode=0o700, exist_ok=True)
        certificate, key = credentials
        self._env = {**CLEAN, **(env or {})}
        self._command = [DAEMON, "--socket", self.folder / "socket", "--state-dir", self.folder / "state",
                         "--log-level", "debug", "--peers", peers, "--peer-listen", f"{self.address}:{port}",
                         "--peer-ca", ca, "--peer-certificate", certificate, "--peer-key", key, *options]
        self.process = None
        self.start()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(list(map(str, self._command)), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=self._env)
        until(lambda: self.process.poll() is not None or self._answers(), "the daemon answers")
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon does not start: {self.log()}")

    def _answers(self):
        try:
            return self.document()
        except OSError:
            return None

    def stop(self, with_signal=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
            self.process.send_signal(signal.SIGCONT)
            processes.wait(self.process, LIMIT_S)
        if self.process.returncode not in (0, -signal.SIGKILL):
            raise AssertionError(f"the daemon ended with {self.process.returncode}: {self.log()[-4000:]}")

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def ask(self, *words):
        return subprocess.run([CLI, *words, "--socket", self.folder / "socket"], env=CLEAN, capture_output=True,
                              text=True, check=False, timeout=LIMIT_S)

    def document(self):
        """What `warmverbs peers --json` prints."""
        return client.Client(f"{self.folder}-admin/socket").answer(op="peers")

    def peer(self, node):
        """What it says of the peer that its configuration calls @node; {} if there is none."""
        return next((peer for peer in self.document()["peers"] if peer["node"] == node), {})

    def await_state(self, node, *states):
        return until(lambda: (found := self.peer(node)).get("state") in states and found,
                     f"{node} is {states}: {self.document()} {self.log()[-2000:]}")

    def await_log(self, text):
        until(lambda: text in self.log(), f"'{text}' in the log: {self.log()[-3000:]}")

    def n_descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def frame(kind, body=b"", length=None):
    return struct.pack(">IH", len(body) if length is None else length, kind) + body


def hello(version=VERSION, node=None, number=1, magic=MAGIC, up_us=1 << 62):
    body = struct.pack(">IH", magic, version) + (node or os.urandom(16)) + struct.pack(">QQ", number, up_us)
    return frame(HELLO, body)


class Stranger:
    """A connection to the daemon at @address that is no daemon's, from @source."""

    def __init__(self, address, port, source):
        self.plain = socket.socket()
        self.plain.settimeout(LIMIT_S)
        self.plain.bind((source, 0))
        try:
            self.plain.connect((address, port))
        except OSError:
            self.plain.close()
            raise
        self.tls = None
        self._received = b""

    def shake_hands(self, ca, credentials=None, version=ssl.TLSVersion.TLSv1_3):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(ca)
        context.check_hostname = False
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.maximum_version = version
        if credentials:
            context.load_cert_chain(*credentials)
        self.tls = context.wrap_socket(self.plain, do_handshake_on_connect=False)
        self.tls.do_handshake()
        return self

    def send(self, data):
        (self.tls or self.plain).sendall(data)

    def frame(self):
        """The next frame: type and body; None: the daemon closed the connection."""
        while len(self._received) < 6 or len(self._received) < 6 + struct.unpack(">I", self._received[:4])[0]:
            try:
                got = self.tls.recv(65536)
            except (ssl.SSLError, ConnectionError):
                got = b""
            if not got:
                return None
            self._received += got
        length, kind = struct.unpack(">IH", self._received[:6])
        body, self._received = self._received[6:6 + length], self._received[6 + length:]
        return kind, body

    def await_frame(self, wanted):
        while found := self.frame():
            if found[0] == wanted:
                return found[1]
        return None

    def is_closed(self):
        """Reads until the daemon closes the connection, and so waits for it."""
        sock = self.tls or self.plain
        sock.settimeout(LIMIT_S)
        try:
            while sock.recv(65536):
                pass
        except TimeoutError:
            return False
        except (ssl.SSLError, ConnectionError):
            pass
        return True

    def close(self):
        (self.tls or self.plain).close()
