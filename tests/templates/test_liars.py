#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Clients that ask a child for a start as no client does: they are refused, and the child serves the next client.

LIARS_SEED: of what is random.
"""

import contextlib
import os
import random
import resource
import signal
import socket
import subprocess
import threading

import spoken
import template
from spoken import ENDED, READY, REFUSED, STARTED, descriptors
from support import cases
from template import children, until

SH = "/bin/sh"
SEED = int(os.environ.get("LIARS_SEED", random.randrange(1 << 32)))
LATE = template.TOO_LATE.strip()
NO_REQUEST = "another version"
NO_MESSAGE = "nothing that can be understood"
FLOOD = 64


class Clients(template.Case):
    """Of a template with one child that waits: it is the one that was lied to that serves the next client."""

    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)
        self.made = self.template(SH, ready=1).await_ready()
        self.supervisor = self.made.process.pid
        self.files = [self.open("."), self.open(SH), self.open(f"/proc/{self.supervisor}/fd/{spoken.PROOF}"),
                      *[self.open(os.devnull, os.O_RDWR)] * 3]
        self.at_rest = self.descriptors_at_rest()
        self.unseen = spoken.unseen_of(self.said_by_launcher("exit 7"))
        self.settle()

    def open(self, path, flags=os.O_PATH):
        fd = os.open(path, flags | os.O_CLOEXEC)
        self.addCleanup(os.close, fd)
        return fd

    def said_by_launcher(self, script):
        """What the launcher says to a template. Some of that this process could hardly find out itself."""
        read, write = os.pipe()

        def answer(connection):
            spoken.say(connection, READY)
            os.write(write, spoken.take(connection))
        with spoken.Template(self.folder, answer) as fake, self.assertRaises(OSError):
            self.launch(fake, [SH, "-c", script])
        os.close(write)
        with open(read, "rb") as said:
            return said.read()

    def request(self, **changes):
        """A sound one, but for the changes."""
        environ = [os.fsencode(f"{name}={value}") for name, value in os.environ.items()]
        return spoken.Request(**{"files": self.files, "argv": [SH.encode(), b"-c", b"exit 7"], "environ": environ,
                                 **self.unseen, **changes})

    def descriptors_at_rest(self):
        """The supervisor's, while it does not look at a child's memory."""
        def look():
            found = descriptors(self.supervisor)
            return None if any(to.startswith("/proc/") for to in found.values()) else found
        return until(look, "a supervisor at rest")

    def settle(self):
        """Until no start is left, and the one child has closed what it opens at first: it has when it has turned a
        client away."""
        def is_settled():
            found = children(self.supervisor)
            self.answer(b"?")
            return (len(found) == 2 and found == children(self.supervisor) and
                    descriptors(self.supervisor) == self.at_rest)
        until(is_settled, "one child")
        self.child = children(self.supervisor)[1]
        self.before = {**self.all_descriptors(), self.supervisor: self.at_rest}
        self.assertGreater(len(self.before[self.child]), spoken.PROOF)

    def all_descriptors(self):
        return {pid: descriptors(pid) for pid in [self.supervisor, *children(self.supervisor)]}

    def expect_as_before(self):
        """The same processes with the same descriptors."""
        try:
            until(lambda: self.all_descriptors() == self.before, "the same descriptors")
        except AssertionError:
            self.assertEqual(self.all_descriptors(), self.before)

    def expect_well(self):
        """The child that was lied to becomes the next start."""
        self.expect_as_before()
        for _ in cases.attempts():
            try:
                started = self.launch(self.made, [SH, "-c", "exit 7"])
            except OSError as why:
                self.assertIn(LATE, str(why))
                continue
            with started:
                self.assertEqual((template.exitcode(started), started.pid), (7, self.child))
            break
        else:
            self.fail("no start")
        result = template.run_client(self.made.socket, [SH, "-c", "exit 7"],
                                     env={**os.environ, "WARMVERBS_VERBOSE": "1"})
        self.assertEqual((result.returncode, result.stderr), (7, ""))
        self.assertIsNone(self.made.process.poll())

    def connect(self):
        """Once a child listens."""
        client = spoken.Client(self.made.socket)
        self.assertEqual(client.hear().word, READY)
        return client

    def answer(self, message, files=(), also=()):
        """To this message, and others behind it, and nothing comes behind the answer."""
        with self.connect() as client:
            for each in (message, *also):
                if not client.say(each, files):
                    break
            answer = client.hear()
            self.assertEqual(answer.word, REFUSED)
            self.assertIsNone(client.hear().word)
        return answer

    def expect_refusal(self, why, message, files=(), also=()):
        for _ in cases.attempts():
            said = self.answer(message, files, also).why
            if said != f"the client's request has {LATE}":
                break
        self.assertIn(why, said)

    def refused(self, *what, **also):
        self.expect_refusal(*what, **also)
        self.expect_as_before()

    def refused_request(self, why, **changes):
        with self.subTest(**{name: value for name, value in changes.items() if name != "files"}):
            request = self.request(**changes)
            self.refused(why, request.packed(), request.files)

    def started(self, message, files, may_be_refused=False):
        """The answer at the end of a start."""
        for _ in cases.attempts():
            with self.connect() as client:
                client.say(message, files)
                answer = client.hear()
                for fd in answer.files:
                    os.close(fd)
                if answer.word == STARTED:
                    self.assertEqual((answer.value, len(answer.files)), (self.child, 1))
                    ended = client.hear()
                    self.assertEqual(ended.word, ENDED)
                    return ended.value
            self.assertEqual(answer.word, REFUSED)
            if LATE not in answer.why and may_be_refused:
                return None
            self.assertIn(LATE, answer.why)
        self.fail("no start")

    def test_a_sound_request(self):
        """From which all others differ in one thing; the launcher's differs in none."""
        request = self.request()
        self.assertEqual(request.packed(), self.said_by_launcher("exit 7"))
        self.assertEqual(self.started(request.packed(), request.files), 7 << 8)
        self.settle()
        self.expect_well()

    def test_goes_at_once(self):
        for _ in range(20):
            spoken.Client(self.made.socket).sock.close()
            self.connect().sock.close()
        for how in (socket.SHUT_RD, socket.SHUT_WR):
            with spoken.Client(self.made.socket) as client:
                client.sock.shutdown(how)
        with self.connect() as client:
            client.sock.shutdown(socket.SHUT_WR)
            self.assertEqual(client.hear().word, REFUSED)
        self.expect_well()

    def test_says_nothing(self):
        with self.connect() as client:
            answer = client.hear()
            self.assertEqual((answer.word, answer.why), (REFUSED, f"the client's request has {LATE}"))
            self.assertFalse(client.say(self.request().packed(), self.files))
            self.assertIsNone(client.hear().word)
        self.expect_well()

    def test_goes_after_its_request(self):
        """It is refused, or its start ends unheard."""
        with self.connect() as client:
            client.say(self.request(argv=[SH.encode(), b"-c", b"exec sleep 100"]).packed(), self.files)
        self.settle()
        self.expect_well()

    def test_speaks_first(self):
        """Before the child has asked, it may know who speaks, or not."""
        request = self.request()
        with spoken.Client(self.made.socket) as client:
            client.say(request.packed(), request.files)
            self.assertEqual(client.hear().word, READY)
            answer = client.hear()
            for fd in answer.files:
                os.close(fd)
            self.assertIn(answer.word, (STARTED, REFUSED))
        self.settle()
        self.expect_well()

    def test_random_bytes(self):
        for length in [1, 2, 4, spoken.HEAD.size, *(self.chance.randrange(3, 1 << 12) for _ in range(20)),
                       spoken.MOST_BYTES]:
            self.refused(NO_REQUEST, self.chance.randbytes(length), self.files[:self.chance.randrange(7)])
        self.expect_well()

    def test_truncated(self):
        message = self.request().packed()
        for length in [*range(1, len(message), 50), len(message) - 1]:
            self.refused(NO_REQUEST, message[:length], self.files)
        self.expect_well()

    def test_changed_bytes(self):
        """One bit of the head is another one: it is refused, or it starts what it would have started."""
        sound = self.request().packed()
        for _ in range(60):
            message, at = bytearray(sound), self.chance.randrange(spoken.HEAD.size)
            message[at] ^= 1 << self.chance.randrange(8)
            with self.subTest(at=at, to=message[at]):
                status = self.started(message, self.files, may_be_refused=True)
                self.assertIn(status, (None, 7 << 8))
                if status is not None:
                    self.settle()
                self.expect_as_before()
        self.expect_well()

    def test_numbers_of_things(self):
        n, huge = len(self.request().environ), (1 << 32) - 1
        for changes in ({"magic": spoken.MAGIC + 1}, {"magic": 0}, {"version": 0}, {"version": 2}, {"n_fds": 2},
                        {"n_fds": 4}, {"n_fds": spoken.MOST_NUMBERS + 1}, {"n_fds": 0xffff}, {"files": self.files[:5]},
                        {"files": [*self.files, self.files[0]]}, {"files": []}, {"argc": 0},
                        {"argc": 0, "envc": n + 3}, {"argc": 4}, {"argc": huge}, {"argc": huge, "envc": n + 4},
                        {"envc": huge}, {"envc": n - 1}, {"envc": n + 1}, {"envc": 1 << 31}):
            self.refused_request(NO_REQUEST, **changes)
        self.expect_well()

    def test_strings(self):
        sound = self.request().packed()
        for message in (sound[:-1] + b"x", sound + b"x", sound + b"\0", sound[:spoken.HEAD.size],
                        sound.replace(b"exit", b"ex\0t")):
            self.refused(NO_REQUEST, message, self.files)
        self.expect_well()

    def test_descriptor_numbers(self):
        for numbers in ((-1, 1, 2), (0, 2, 1), (0, 1, 1), (0, 1, -1 << 31), (3, 2, 2)):
            self.refused_request(NO_REQUEST, numbers=numbers)
        limit = resource.prlimit(self.child, resource.RLIMIT_NOFILE)[1]
        for number in {limit - 20, limit, (1 << 31) - 1}:
            self.refused_request("above the limit", numbers=(0, 1, number))
        self.expect_well()

    def test_threads(self):
        own = threading.get_native_id()
        with subprocess.Popen(["/bin/sleep", "100"]) as other:
            for thread in (1, self.supervisor, self.child, other.pid, (1 << 31) - 1):
                self.refused_request("cannot read /proc/", thread=thread)
            for thread in (0, -1, -own, 1 << 31, 1 << 62, own + (1 << 32), own - (1 << 63)):
                self.refused_request(NO_REQUEST, thread=thread)
            other.kill()
        self.expect_well()

    def test_files(self):
        """Of which the working directory is the last that is looked at."""
        cwd, program, proof, *others = self.files
        forged = os.memfd_create("warmverbs-supervisor")
        self.addCleanup(os.close, forged)
        for why, files in (("may not trace", (cwd, program, forged)), ("may not trace", (cwd, program, program)),
                           ("may not trace", (program, proof, cwd)), ("another program", (cwd, proof, proof)),
                           ("another program", (cwd, self.open("/bin/cat"), proof)),
                           ("another program", (cwd, cwd, proof))):
            self.refused_request(why, files=[*files, *others])
        self.refused_request("was executed as", path=b"/bin/../bin/sh")
        self.refused_request("was executed as", path=b"")
        self.expect_well()

    def test_unseen(self):
        own = self.unseen["unseen"]
        for i in range(len(own)):
            self.refused_request("differs", unseen=(*own[:i], own[i] + 1, *own[i + 1:]))
        self.expect_well()

    def refused_for_good(self, why, cwd):
        """What fails when the child has begun to change ends it. Its supervisor makes others, however often."""
        request = self.request(files=[cwd, *self.files[1:]])
        for _ in range(10):
            child = self.child
            self.expect_refusal(why, request.packed(), request.files)
            until(lambda: child not in children(self.supervisor), "the end of the child")
            self.settle()
        self.expect_well()

    def test_working_directory_is_a_file(self):
        self.refused_for_good("becoming the program: Not a directory", self.files[1])

    def test_working_directory_without_rights(self):
        if not os.geteuid():
            self.skipTest("root has all rights")
        folder = self.folder / "closed"
        folder.mkdir(0)
        self.addCleanup(folder.chmod, 0o700)
        self.refused_for_good("becoming the program: Permission denied", self.open(folder))

    def words(self, messages):
        """All that is heard. A connection may be closed with messages in it."""
        with self.connect() as client:
            for message in messages:
                client.say(message, self.files)
            while True:
                with contextlib.suppress(ConnectionResetError):
                    answer = client.hear()
                    for fd in answer.files:
                        os.close(fd)
                    if answer.word is None:
                        return
                    yield answer

    def test_two_requests_in_one_go(self):
        """Whoever speaks on has nothing to say: its start is killed, unless it has ended."""
        message = self.request().packed()
        for _ in cases.attempts():
            begun, *ended = self.words([message, message])
            if begun.word != REFUSED:
                break
            self.assertIn(LATE, begun.why)
        else:
            self.fail("no start")
        if begun.word == STARTED:
            self.assertEqual(begun.value, self.child)
            self.assertIn([(end.word, end.value) for end in ended], [[], [(ENDED, 7 << 8)], [(ENDED, signal.SIGKILL)]])
        else:  # the supervisor was told first, and was faster
            self.assertEqual([(end.word, end.value) for end in (begun, *ended)], [(ENDED, signal.SIGKILL)])
        self.settle()
        self.refused(NO_REQUEST, b"?" + message, self.files, also=[message] * 50)
        self.refused(NO_REQUEST, message[:-1], self.files, also=[b"", b"?" * (spoken.MOST_BYTES + 1)] * 3)
        self.expect_well()

    def test_many_descriptors(self):
        cwd_and_others, nothing = self.files[:3], self.files[3]
        self.refused_request(NO_REQUEST, files=[nothing] * spoken.MOST_FILES)
        self.refused_request(NO_REQUEST, files=[*cwd_and_others, *[nothing] * 250], n_fds=250)
        self.refused(NO_MESSAGE, b"", [nothing] * spoken.MOST_FILES)
        self.refused(NO_MESSAGE, b"", self.files)
        self.refused(NO_MESSAGE, b"")
        most = self.request(files=[*cwd_and_others, *[nothing] * 248], numbers=tuple(range(248)))
        self.assertEqual(self.started(most.packed(), most.files), 7 << 8)
        self.settle()
        self.expect_well()

    def test_its_own_connection(self):
        for _ in cases.attempts():
            with self.connect() as client:
                client.say(b"?", [client.sock.fileno()] * 9)
                said = client.hear().why
                self.assertIsNone(client.hear().word)
            if LATE not in said:
                break
        self.assertIn(NO_REQUEST, said)
        self.expect_well()

    def test_too_large(self):
        request = self.request()
        room = spoken.MOST_BYTES - len(request.packed()) - len("X=\0")
        for more in (1, 1000):
            self.refused_request(NO_MESSAGE, environ=[*request.environ, b"X=" + b"x" * (room + more)])
        largest = self.request(environ=[*request.environ, b"X=" + b"x" * room])
        self.assertEqual(self.started(largest.packed(), request.files), 7 << 8)
        self.settle()
        self.expect_well()


class Flood(template.Case):
    def test_clients_that_say_nothing(self):
        """One beside them is served, or executes the program."""
        made = self.template(SH).await_ready(4)
        supervisor = made.process.pid
        before = descriptors(supervisor)
        with contextlib.ExitStack() as flood:
            for _ in range(FLOOD):
                flood.enter_context(spoken.Client(made.socket))
            for status in range(3):
                client = self.start(made, SH, "-c", f"echo once; exit {status}", stdout=subprocess.PIPE)
                self.assertEqual(client.communicate(timeout=template.LIMIT_S)[0], b"once\n")
                self.assertEqual(client.returncode, status)
        self.all_started()
        result = template.run_client(made.socket, [SH, "-c", "exit 7"], env={**os.environ, "WARMVERBS_VERBOSE": "1"})
        self.assertEqual((result.returncode, result.stderr), (7, ""))
        until(lambda: descriptors(supervisor) == before, "the same descriptors of the supervisor")
        waiting = children(supervisor)[1:]
        until(lambda: len({len(descriptors(pid)) for pid in waiting}) == 1, "no connection of the flood")


if __name__ == "__main__":
    print(f"seed: {SEED}", flush=True)
    template.main()
