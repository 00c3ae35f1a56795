#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The gateway of docs/templates.md, whose functions start from a template of Python."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import python_template
import template
from python_template import ENV
from support import ports
from template import SOURCES, children, until

REQUESTS = 200
REQUESTS_AROUND_AN_END = 60
AT_A_TIME = 4
NO_ANSWER = (http.client.RemoteDisconnected, ConnectionResetError)
FUNCTION = """\
import json, os, sys, urllib.parse
query = urllib.parse.parse_qs(os.environ["QUERY_STRING"])
if "wait" in query:
    open(query["wait"][0]).read()
with open("/proc/self/stat") as stat:
    began = stat.read().rpartition(")")[2].split()[19]
descriptors = sorted(os.listdir("/proc/self/fd"))  # the last one is its own
print(json.dumps([sys.argv[1:], query["n"], descriptors, [os.getpid(), began], os.getppid()]))
sys.exit(int(query["n"][0]) % 7)
"""


def example():
    text = (template.SOURCES / "docs/templates.md").read_text(encoding="utf-8")
    return re.search(r"```python\n(# gateway\.py.*?)```", text, re.DOTALL)[1]


class Gateway(python_template.Case):
    def setUp(self):
        super().setUp()
        self.script.write_text(FUNCTION, encoding="utf-8")
        self.away = self.folder / "away"  # where no modules are searched for: a file that comes ends no template
        self.away.mkdir()
        self.supervisor = self.supervise("json", "urllib.parse")
        self.log = self.away / "log"
        self.port = ports.free_port()
        self.gateway = self.start_gateway()

    def start_gateway(self):
        program = self.away / "gateway.py"
        program.write_text(example(), encoding="utf-8")
        with open(self.log, "ab") as log:
            process = subprocess.Popen(
                [sys.executable, str(program), self.socket, str(self.script), str(self.port)], env=ENV,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        until(lambda: process.poll() is not None or ports.is_listened_to(self.port), "the gateway")
        self.assertIsNone(process.poll(), self.log.read_text(encoding="utf-8"))
        return process

    def executed(self):
        """Why functions were executed, a line for each."""
        return [line for line in self.log.read_text(encoding="utf-8").splitlines() if line.startswith("executed: ")]

    def descriptors(self):
        folder = f"/proc/{self.gateway.pid}/fd"
        with contextlib.suppress(FileNotFoundError):  # it has just closed one
            return sorted(re.sub(r"\d+", "", os.readlink(f"{folder}/{fd}")) for fd in os.listdir(folder))
        return None

    def await_rest(self):
        """The gateway then has its input, NOTHING, its log twice, and the socket at which it listens."""
        log = re.sub(r"\d+", "", str(self.log))
        rest = sorted([os.devnull, os.devnull, log, log, "socket:[]"])
        until(lambda: self.descriptors() == rest and not children(self.gateway.pid), "the gateway at rest")

    def ask(self, n):
        """Checks the answer to a request. Returns what function it was, as no other one, and its parent."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=template.LIMIT_S)
        with contextlib.closing(connection):
            connection.request("GET", f"/word{n}?n={n}")
            response = connection.getresponse()
            arguments, query, descriptors, function, parent = json.loads(response.read())
        self.assertEqual((arguments, query), ([f"/word{n}"], [str(n)]))
        self.assertEqual((response.status, response.headers["Exit-Status"]), (500 if n % 7 else 200, str(n % 7)))
        self.assertEqual(descriptors, ["0", "1", "2", "3"])
        return tuple(function), parent

    def ask_often(self, requests, ask):
        """Returns the parents of all functions; none may have been there twice."""
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as threads:
            answers = list(filter(None, threads.map(ask, range(requests))))
        functions, parents = zip(*answers)
        self.assertEqual(len(set(functions)), len(functions))
        self.await_rest()
        return parents

    def test_requests(self):
        parents = self.ask_often(REQUESTS, self.ask)
        self.assertEqual([why for why in self.executed() if not why.endswith(template.TOO_LATE.strip())], [])
        self.assertEqual(parents.count(self.gateway.pid), len(self.executed()))
        self.assertEqual(parents.count(self.supervisor.pid), REQUESTS - len(self.executed()))
        self.assertIn(self.supervisor.pid, parents)

    def test_template_is_killed(self):
        """Functions that have started end as they would, and the others are executed."""
        def ask(n):
            if n == REQUESTS_AROUND_AN_END // 2:
                os.kill(children(self.supervisor.pid)[0], signal.SIGKILL)
            return self.ask(n)
        self.assertEqual(set(self.ask_often(REQUESTS_AROUND_AN_END, ask)), {self.supervisor.pid, self.gateway.pid})
        self.assertEqual(self.ask(0)[1], self.gateway.pid)

    def test_supervisor_is_killed(self):
        """How a function has ended is not known then; those that begin later are executed."""
        def ask(n):
            if n == REQUESTS_AROUND_AN_END // 2:
                self.supervisor.kill()
                self.supervisor.wait()
                self.gone = time.monotonic()
            began = time.monotonic()
            try:
                return self.ask(n)
            except NO_ANSWER:
                unknown.append(began)
                return None
        unknown = []
        self.assertEqual(set(self.ask_often(REQUESTS_AROUND_AN_END, ask)), {self.supervisor.pid, self.gateway.pid})
        self.assertEqual([began for began in unknown if began > self.gone], [])
        self.assertEqual(self.ask(0)[1], self.gateway.pid)

    def test_client_goes_away(self):
        """While its function runs."""
        fifo = self.away / "fifo"
        os.mkfifo(fifo)
        with socket.create_connection(("127.0.0.1", self.port), template.LIMIT_S) as client:
            client.sendall(f"GET /word?n=0&wait={fifo} HTTP/1.0\r\n\r\n".encode())
            writer = until(lambda: self.opened(fifo), "the function")
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()
        self.await_rest()
        self.ask(1)
        self.await_rest()

    @staticmethod
    def opened(fifo):
        """For writing, once somebody reads it."""
        with contextlib.suppress(OSError):
            return open(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK), "wb")
        return None


if __name__ == "__main__":
    template.main()
