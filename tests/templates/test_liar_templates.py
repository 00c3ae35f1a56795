#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Templates that answer as none does: a client executes the program, once, or follows a start that there is. No
descriptor that they send is left open."""

import contextlib
import os
import resource
import socket
import subprocess
import time

import spoken
import template
from spoken import ENDED, READY, REFUSED, STARTED

SH = "/bin/sh"
LATE = template.TOO_LATE.strip()
TRIES = 50
FEW_FILES = 40  # more than this process has open, fewer than a message can carry


def own_descriptors():
    """Without that of the folder itself."""
    return {fd: link for fd, link in spoken.descriptors("self").items() if "/fd" not in link}


def turn_away(connection, why):
    """As a child does it (src/template/waiting.c)."""
    connection.shutdown(socket.SHUT_RD)
    while spoken.take(connection):
        pass
    spoken.say(connection, REFUSED, why=why)


class Templates(template.Case):
    argv = (SH, "-c", "echo once; exit 7")

    def run_against(self, answer):
        """Again if the false template was too late. That it often is, on a busy machine, is nobody's fault."""
        for _ in range(TRIES):
            result = self.run_once(answer)
            if template.TOO_LATE not in result.stderr:
                break
        return result

    def launcher_fails(self, answer, timeout):
        """Says why, and leaves no descriptor."""
        import warmverbs_template  # pylint: disable=import-outside-toplevel
        template.ctypes.CDLL(template.LAUNCHER)
        before = own_descriptors()
        with spoken.Template(self.folder, answer) as fake:
            with self.assertRaises(warmverbs_template.NotStarted) as why:
                warmverbs_template.start(fake.socket, self.argv, timeout=timeout)
        self.assertEqual(own_descriptors(), before)
        return str(why.exception)

    def executed(self, answer, why, timeout=template.LIMIT_S):
        result = self.run_against(answer)
        self.assertEqual((result.returncode, result.stdout), (7, "once\n"))
        self.assertIn(f"executed: {why}", result.stderr)
        self.assertIn(why, self.launcher_fails(answer, timeout))

    def test_closes(self):
        self.executed(lambda connection: None, "Connection refused")
        self.executed(lambda connection: spoken.say(connection, READY), "Connection refused")

        def closes_then(connection):
            spoken.say(connection, READY)
            spoken.take(connection)
        self.executed(closes_then, "Connection refused")

    def test_refuses(self):
        self.executed(lambda connection: spoken.say(connection, REFUSED, why=b"too early"), "too early")

        def refuses(connection):
            spoken.say(connection, READY)
            turn_away(connection, b"too late")
        self.executed(refuses, "too late")

        def hears_first(connection):
            spoken.say(connection, READY)
            spoken.take(connection)
            turn_away(connection, b"unlike")
        self.executed(hears_first, "unlike")

    def test_endless_reason(self):
        self.executed(lambda connection: spoken.say(connection, REFUSED, why=b"x" * 120), "x" * 119)

    def test_wrong_words(self):
        for word in (STARTED, ENDED, 0, 99):
            self.executed(lambda connection, word=word: spoken.say(connection, word), "Operation not permitted")
        for word in (READY, ENDED, 0, 99):
            def answer(connection, word=word):
                spoken.say(connection, READY)
                spoken.take(connection)
                spoken.say(connection, word, value=7)
            self.executed(answer, "Operation not permitted")

    def test_wrong_sizes(self):
        for size in (0, 1, spoken.ANSWER.size - 1, spoken.ANSWER.size + 1):
            for is_late in (False, True):
                def answer(connection, size=size, is_late=is_late):
                    if is_late:
                        spoken.say(connection, READY)
                        spoken.take(connection)
                    socket.send_fds(connection, [spoken.ANSWER.pack(REFUSED, 1, b"").ljust(size)[:size]], [1, 2])
                with self.subTest(size=size, is_late=is_late):
                    self.executed(answer, "Connection refused")

    def test_never_answers(self):
        """And what it says later, it cannot say."""
        def is_silent(connection):
            while connection.recv(spoken.MOST_BYTES):
                pass

        def asks(connection):
            spoken.say(connection, READY)
            is_silent(connection)
            with contextlib.suppress(BrokenPipeError):
                spoken.say(connection, STARTED)
                raise AssertionError("it could be said")
        for answer in (is_silent, asks):
            result = self.run_once(answer)
            self.assertEqual((result.returncode, result.stdout), (7, "once\n"))
            self.assertIn(LATE, result.stderr)
            self.assertIn(LATE, self.launcher_fails(answer, 0.2))

    def run_once(self, answer):
        """Without another attempt after one that was too late."""
        with spoken.Template(self.folder, answer) as fake:
            return subprocess.run([template.CLIENT, "--socket", fake.socket, *self.argv], capture_output=True,
                                  text=True, timeout=template.LIMIT_S, check=False,
                                  env={**os.environ, "WARMVERBS_VERBOSE": "1"})

    def starts(self, n_files, last, ready=()):
        """A template with something that ends with 3, so many descriptors of it, and what it says at last."""
        def answer(connection):
            spoken.say(connection, READY, files=ready)
            spoken.take(connection)
            pid = os.fork()
            if not pid:
                time.sleep(0.02)
                os._exit(3)
            pidfd = os.pidfd_open(pid)
            spoken.say(connection, STARTED, pid, files=[pidfd] * n_files)
            status = os.waitpid(pid, 0)[1]
            os.close(pidfd)
            last(connection, status)
        return answer

    @staticmethod
    def end(connection, status):
        spoken.say(connection, ENDED, status)

    def followed(self, answer, status):
        """None: nobody can tell it."""
        result = self.run_against(answer)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (125 if status is None else status, "", ""))
        before = own_descriptors()
        with spoken.Template(self.folder, answer) as fake, self.launch(fake, self.argv) as started:
            if status is None:
                self.assertRaises(OSError, started.wait)
            else:
                self.assertEqual(template.exitcode(started), status)
        self.assertEqual(own_descriptors(), before)

    def test_numbers_of_descriptors(self):
        """Of a start: it is followed, with those that it lacks, and none is kept of those that nobody wants."""
        for n, ready in ((0, ()), (1, (0, 1, 2)), (10, ()), (spoken.MOST_FILES, ())):
            with self.subTest(n=n, ready=ready):
                self.followed(self.starts(n, self.end, ready), 3)

    def test_start_without_room_for_descriptors(self):
        """It is one all the same: the program must not be executed beside it."""
        answer = self.starts(spoken.MOST_FILES, self.end)
        before = own_descriptors()
        with spoken.Template(self.folder, answer) as fake:
            limits = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES, limits[1]))
            try:
                started = self.launch(fake, self.argv)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            with started:
                self.assertEqual(template.exitcode(started), 3)
        self.assertEqual(own_descriptors(), before)

    def test_descriptors_with_the_end(self):
        self.followed(self.starts(1, lambda connection, status: spoken.say(connection, ENDED, status,
                                                                           files=[0, 1, 2])), 3)

    def test_end_that_nobody_can_tell(self):
        def other(connection, status):
            spoken.say(connection, STARTED, status)

        def unknown(connection, status):
            spoken.say(connection, 99, status)
        for n, last in ((0, lambda *_: None), (1, lambda *_: None), (0, other), (1, unknown),
                        (1, lambda connection, _: connection.send(b"?"))):
            self.followed(self.starts(n, last), None)


if __name__ == "__main__":
    template.main()
