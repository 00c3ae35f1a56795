#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""lighttpd as docs/templates.md configures it: programs by CGI and FastCGI that it starts from templates."""

import concurrent.futures
import contextlib
import http.client
import os
import re
import select
import shutil
import signal
import subprocess

import template
from support import ports, processes
from template import CLIENT, SOURCES, until

ANSWERS = template.BUILD / "tests/templates/answers"
REQUESTS = 100
AT_A_TIME = 4
OWN = """\
server.document-root = "{site}"
server.bind = "127.0.0.1"
server.port = {port}
server.errorlog = "{folder}/log"
server.breakagelog = "{folder}/log"
server.stream-response-body = 2
"""


def find():
    return shutil.which("lighttpd", path=f"{os.environ['PATH']}:/usr/sbin")


def why_not():
    if not find():
        return "needs lighttpd: apt install lighttpd"
    if not ANSWERS.exists():
        return "a program behind it was not built: apt install libfcgi-dev, then meson setup --reconfigure"
    return None


def example(places):
    """The configuration in the documentation, with other places."""
    text = (SOURCES / "docs/templates.md").read_text(encoding="utf-8")
    text = re.search(r"```\n(server\.modules.*?)```", text, re.DOTALL)[1]
    for shown, place in places.items():
        assert shown in text, f"the configuration does not have {shown}"
        text = text.replace(shown, str(place))
    return text


class Lighttpd(template.Case):
    def setUp(self):
        super().setUp()
        self.site, self.templates, self.log = self.folder / "site", self.folder / "templates", self.folder / "log"
        self.cgi, self.kept = self.site / "one.fn", self.folder / "function"
        self.site.mkdir()
        for path in self.cgi, self.kept:
            shutil.copy(ANSWERS, path)
        self.port = ports.free_port()
        self.addCleanup(template.end_supervisors, self.templates)
        self.server = self.start_server()

    def start_server(self):
        places = {"/usr/bin/warmverbs-start": CLIENT, "/usr/local/lib/function": self.kept,
                  "/run/lighttpd/templates": self.templates, "/run/lighttpd/function": self.folder / "socket"}
        configuration = self.folder / "lighttpd.conf"
        configuration.write_text(OWN.format(site=self.site, port=self.port, folder=self.folder) + example(places),
                                 encoding="utf-8")
        process = subprocess.Popen([find(), "-D", "-f", configuration], stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        until(lambda: process.poll() is not None or ports.is_listened_to(self.port), "lighttpd")
        self.assertIsNone(process.poll())
        return process

    @contextlib.contextmanager
    def response(self, *request, **kwargs):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=template.LIMIT_S)
        connection.request(*request, **kwargs)
        with contextlib.closing(connection), connection.getresponse() as response:
            yield response

    def ask(self, path, n=0, errors=()):
        """Checks the answer; returns what process it was, and its parent. Nothing after one of these errors."""
        with self.response("POST", f"{path}?query{n}", body=f"body{n}", headers={"X-Word": f"word{n}"}) as response:
            if response.status in errors:
                return None, None
            self.assertEqual(response.status, 200)
            function, parent, *words = response.read().decode().split()
        self.assertEqual(words, [f"query{n}", f"word{n}", f"body{n}"])
        return int(function), int(parent)

    def is_start(self, parent):
        return parent in template.supervisors(self.templates)

    def test_cgi(self):
        until(lambda: self.is_start(self.ask("/one.fn")[1]), "a start from a template")
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as threads:
            parents = {parent for _, parent in threads.map(lambda n: self.ask("/one.fn", n), range(REQUESTS))}
        # What came too late for a start has lighttpd as its parent.
        [supervisor] = parents - {self.server.pid}
        self.assertTrue(self.is_start(supervisor))

    def test_client_goes_away(self):
        """The program then has nobody to write to."""
        until(lambda: self.is_start(self.ask("/one.fn")[1]), "a start from a template")
        with self.response("GET", "/one.fn?endless") as response:
            function = os.pidfd_open(int(response.readline().split()[0]))
            self.addCleanup(os.close, function)
            self.addCleanup(self.kill, function)
        self.assertTrue(select.select([function], [], [], template.LIMIT_S)[0])
        self.ask("/one.fn", 1)

    @staticmethod
    def kill(function):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(function, signal.SIGKILL)

    def test_fastcgi(self):
        """lighttpd starts another process for each that has ended."""
        def ask():
            function, parent = self.ask("/function", errors=(500, 503))  # of a process that was killed
            if self.is_start(parent):
                return function
            if function:
                os.kill(function, signal.SIGKILL)
            return None
        function = until(ask, "a start from a template")
        self.server.terminate()
        self.server.wait(template.LIMIT_S)
        until(lambda: not processes.is_alive(function), "the end of the program")


if __name__ == "__main__":
    template.main(why_not())
