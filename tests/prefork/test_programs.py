#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that fork workers and know nothing of warmverbs: a pre-fork server, and Python's multiprocessing."""

import subprocess

import zygotes
from support import cases
from zygotes import SETS, bed, trace

PREFORK = str(bed.BUILD / "tests/programs/prefork")
ANSWER = str(zygotes.PROGRAMS / "answer.py")
PYTHON = "/usr/bin/python3"  # Debian's, which its modules are for
CLIENTS, REQUESTS = 3, 10
WORKERS, EACH = 4, 2
REQUESTS_OF_PYTHON = 12


class Programs(zygotes.Case):
    def start_program(self, command, warm, **env):
        # Python is not built for sanitizers, but their runtime must be loaded first.
        env = bed.environment(command[0], warm, {**(self.warm() if warm else {}), **env})
        process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def output(self, process):
        out, errors = process.communicate(timeout=bed.LIMIT_S)
        self.assertEqual((process.returncode, errors), (0, ""))
        return out

    def taken(self):
        return len(trace.opens(trace.read(self.folder / "trace"), trace.PREFORKED))

    def assert_taken(self, least):
        self.assertGreaterEqual(self.taken(), least)

    def compare(self, run, plain, least):
        """On a busy machine, all may be done before there are sets for new workers."""
        for _ in cases.attempts():
            (self.folder / "trace").unlink(missing_ok=True)
            self.assertEqual(run(), plain)
            self.await_nothing()
            if self.taken() >= least:
                return
        self.assert_taken(least)

    def serve(self, warm):
        """The output of a pre-fork server, and those of its clients."""
        socket = str(self.folder / "server")
        server = self.start_program([PREFORK, "serve", socket, str(WORKERS), str(EACH), str(CLIENTS * REQUESTS)], warm)
        self.assertEqual(server.stdout.readline(), "listening\n")
        clients = [self.start_program([PREFORK, "ask", socket, str(REQUESTS)], False) for _ in range(CLIENTS)]
        answers = [self.output(client) for client in clients]
        return self.output(server), answers

    def test_prefork_server(self):
        plain = self.serve(False)
        self.assertEqual(plain[1], ["".join(f"REQUEST {i}\n" for i in range(REQUESTS))] * CLIENTS)
        self.compare(lambda: self.serve(True), plain, 2)

    def test_prefork_server_with_a_daemon(self):
        plain = self.serve(False)
        self.start_daemon()
        for _ in range(3):
            self.assertEqual(self.serve(True), plain)
        self.await_nothing()

    def start_python(self, way, warm):
        return self.start_program([PYTHON, "-B", ANSWER, way, str(REQUESTS_OF_PYTHON)], warm)

    def require_python(self):
        if subprocess.run([PYTHON, "-c", "import pyverbs"], env=bed.CLEAN, check=False, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL).returncode:
            self.skipTest("python3-pyverbs is not installed")
        if bed.SANITIZED:
            self.skipTest("Python's own leaks and races are not the question")

    def run_python(self, way, least):
        self.require_python()
        plain = self.output(self.start_python(way, False))
        self.assertEqual(len(plain.splitlines()), REQUESTS_OF_PYTHON)
        self.compare(lambda: self.output(self.start_python(way, True)), plain, least)

    def test_python_pool(self):
        self.run_python("pool", 1)

    def test_python_processes(self):
        """One after the other: the first child teaches, and the next fork makes sets of that."""
        self.require_python()
        server = self.start_python("processes", True)
        for number in range(REQUESTS_OF_PYTHON):
            if number > 1:
                self.await_sets(SETS)
            server.stdin.write("\n")
            server.stdin.flush()
            self.assertEqual(server.stdout.readline(), f"({number}, 0)\n")
        self.output(server)
        self.assert_taken(REQUESTS_OF_PYTHON - 2)
        self.await_nothing()

    def test_python_crashes(self):
        self.run_python("crashes", 0)


if __name__ == "__main__":
    zygotes.main()
