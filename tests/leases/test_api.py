#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The public functions, in the examples of the documentation."""

import os
import pathlib
import signal
import tempfile

from support import bed, cases, wire

EXAMPLES = bed.BUILD / "docs/examples"
ANOTHER_FILE = str(bed.BUILD / "tests/preload/another-libwarmverbs.so")
ASKER = str(bed.BUILD / "tests/leases/asker")
# Of enum wv_daemon and enum wv_reason.
KNOWN, ANSWERED, GONE = range(1, 4)
NO_DAEMON, PROVIDER, RECORDED, EMPTY, DENIED, UNFIT = range(6, 12)
NO_ANSWER = [f"daemon {KNOWN}, then {GONE}, reason {NO_DAEMON}"]
TOO_SLOW = "Connection timed out"  # the daemon answered later than a program waits


def example(name):
    return str(EXAMPLES / f"example_{name}")


class Api(bed.Case):
    def example(self, name, words="", **kwargs):
        return self.start(words, True, program=example(name), **kwargs)

    def run_example(self, name, words="", **kwargs):
        for _ in cases.attempts():
            result = self.run_once(name, words, **kwargs)
            if TOO_SLOW not in result.errors:
                break
        self.assertEqual(result.status, 0, result.errors)
        return result

    def run_once(self, name, words="", **kwargs):
        running = self.example(name, words, **kwargs)
        running.process.stdin.close()
        return running.finish()

    def learn_example(self, name, words=""):
        """Runs it until there is a lease for it. Returns the first run, which had none."""
        first = self.run_example(name, words)
        for _ in cases.attempts(free=1):
            if self.daemon.recipes(self.name):
                break
            self.run_example(name, words)
        self.daemon.await_ready(self.name)
        return first

    def run_leased_example(self, name, **kwargs):
        for _ in cases.attempts():
            self.daemon.await_ready(self.name)
            result = self.run_example(name, **kwargs)
            if result.leased:
                return result
        raise AssertionError(f"no lease in {cases.PATIENCE} runs or more: {result.lines}")

    def pools(self):
        return [(r["pool"]["requested"], r["pool"]["ready"]) for r in self.daemon.recipes(self.name)]

    def await_pools(self, expected):
        bed.until(lambda: self.pools() == expected, f"{expected}, not {self.pools()}")

    # What a program is told.

    def test_version(self):
        lines = self.run_example("version").lines
        self.assertRegex(lines[0], r"^warmverbs \d+\.\d+\.\d+$")

    def test_weak(self):
        """Not linked with the library, so it finds the functions only if that is preloaded."""
        self.assertEqual(self.run_example("weak").lines, self.run_example("version").lines)
        self.assertEqual(self.start("", False, program=example("weak")).finish().lines, ["no warmverbs"])

    def test_status(self):
        for i, _ in enumerate(cases.attempts()):
            self.name = f"status{i}"  # only the first run of a program is recorded
            first = self.learn_example("status")
            if first.done(bed.trace.RECORDED):
                break
        self.assertIn("so this run is recorded", first.lines[0])
        self.assertIn("was opened from a lease", self.run_leased_example("status").lines[0])

    def test_status_without_lease(self):
        for variable, value, words in (("WARMVERBS_DISABLE", "1", "WARMVERBS_DISABLE is set"),
                                       ("WARMVERBS_LEASE", "0", "WARMVERBS_LEASE is 0"),
                                       ("IBV_DRIVERS", "mlx5", "IBV_DRIVERS or RDMAV_DRIVERS is set"),
                                       ("MLX_QP_ALLOC_TYPE", "ANON", "the memory of queues"),
                                       ("WARMVERBS_SOCKET", "/nonexistent/socket", "there is no warmverbsd")):
            with self.subTest(variable):
                self.assertIn(words, self.run_example("status", env={variable: value}).lines[0])

    def check_statistics(self, **kwargs):
        warm = self.run_leased_example("statistics", **kwargs)
        kernel = [event for event in warm.events if event.kind == bed.trace.COMMAND and event.how != bed.trace.ADOPTED]
        self.assertLessEqual({"get_context", "alloc_pd", "create_cq"}, set(warm.done(bed.trace.ADOPTED)))
        self.assertEqual(warm.lines, ["opens: 1, of these from a lease: 1",
                                      f"commands answered from it: {len(warm.adopted)}, by the kernel: {len(kernel)}"])

    def test_statistics(self):
        first = self.learn_example("statistics")
        self.assertIn("opens: 1, of these from a lease: 0", first.lines)
        self.check_statistics()

    def test_statistics_of_one_library_in_two_files(self):
        """Linked library and preloaded library act as one, even if they are two files."""
        self.learn_example("statistics")
        self.check_statistics(lib=ANOTHER_FILE)

    # What a program asks for.

    def start_pool(self):
        for _ in cases.attempts():
            running = self.example("pool")
            line = running.process.stdout.readline().rstrip("\n")
            if TOO_SLOW not in running.errors():
                break
        return running, line

    def test_pool(self):
        first = self.learn_example("pool")
        self.assertRegex(first.lines[0], r"^asked for 8, granted [08], ready [08]$")
        running, line = self.start_pool()
        self.assertEqual(line, "asked for 8, granted 8, ready 8")
        self.await_pools([(8, 8)])
        running.process.stdin.close()
        self.assertEqual(running.process.wait(bed.LIMIT_S), 0)
        self.await_no_request()

    def await_no_request(self):
        """Waits until the pool is as large as demand alone makes it."""
        def ended():
            pools = [r["pool"] for r in self.daemon.recipes(self.name)]
            return pools and all(p["requested"] == 0 and p["ready"] == p["target"] < 8 for p in pools)
        bed.until(ended, "end of the pool request")

    def test_pool_of_a_program_that_is_killed(self):
        self.learn_example("pool")
        running, _ = self.start_pool()
        self.await_pools([(8, 8)])
        os.kill(running.pid, signal.SIGKILL)
        self.await_no_request()

    def test_pool_without_daemon(self):
        result = self.run_once("pool", env={"WARMVERBS_SOCKET": "/nonexistent/socket"})
        self.assertEqual((result.status, result.lines), (1, ["asked for 0, granted 0, ready 0"]))
        self.assertIn("no pool: No such file or directory", result.errors)

    def test_pool_that_the_environment_forbids(self):
        result = self.run_once("pool", env={"WARMVERBS_LEASE": "0"})
        self.assertEqual(result.status, 1)
        self.assertIn("no pool: Operation not supported", result.errors)

    def test_release(self):
        self.learn_example("release", "device")
        running = self.example("release")
        self.assertEqual(running.process.stdout.readline(), "1 device(s), none in use\n")
        self.await_no_request()
        # The only connection is the one that asks.
        bed.until(lambda: self.daemon.status()["clients"]["connected"] == 1, "no connection of the program's")
        running.process.stdin.close()
        self.assertEqual(running.process.wait(bed.LIMIT_S), 0)

    # What might keep a pool too long, or end it too early.

    def requests(self):
        """How many programs are connected: each has one pool request, and this one asks for the status."""
        return self.daemon.status()["clients"]["connected"] - 1

    def test_pool_ends_with_its_asker_not_with_its_child(self):
        running = self.start("fork", True, program=ASKER)
        running.reach("forked")
        bed.until(lambda: self.requests() == 1, "one pool request")
        child = int(running.remarks("child")[0])
        self.addCleanup(os.kill, child, signal.SIGKILL)
        os.kill(running.pid, signal.SIGKILL)
        bed.until(lambda: self.requests() == 0, "end of the pool request")
        os.kill(child, 0)  # the child is still alive

    def test_pool_of_a_program_that_closes_all(self):
        running = self.start("close", True, program=ASKER)
        running.reach("closed")
        bed.until(lambda: self.requests() == 0, "end of the pool request")
        result = running.finish()
        self.assertEqual(result.status, 0, result.errors)

    def test_pool_and_a_restarted_daemon(self):
        running = self.start("restart", True, program=ASKER)
        running.reach("restart")
        self.daemon.stop()
        self.daemon.start()
        running.go_on()
        running.reach("again")
        bed.until(lambda: self.requests() == 1, "one pool request")
        result = running.finish()
        self.assertEqual(result.status, 0, result.errors)

    def test_pool_and_a_daemon_that_is_gone(self):
        running = self.start("stop", True, program=ASKER)
        running.reach("stop")
        self.daemon.stop()
        result = running.finish()
        self.daemon.start()
        self.assertEqual(result.status, 0, result.errors)

    # Fake daemons.

    def run_with_fake(self, words, answer, providers=None):
        """What the asker prints if the function answer(data, descriptors) answers it."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="fake.", dir=self.folder))
        fake = wire.FakeDaemon(folder, answer, providers or (self.folder / "providers").read_text())
        self.addCleanup(fake.stop)
        result = self.start(words, True, program=ASKER, env={"WARMVERBS_SOCKET": str(folder / "socket")}).finish()
        self.assertEqual(result.status, 0, result.errors)
        return result.lines

    def answered(self, *answer):
        """What the asker prints after an answer: data and descriptors; with none, the connection ends."""
        def answer_by_kind(data, fds):
            if wire.kind_of(data) != wire.POOL:
                return wire.no_lease(), []
            self.assertEqual(fds, [])
            return answer or None
        return self.run_with_fake("whatever", answer_by_kind)

    def test_reasons_that_a_daemon_gives(self):
        for reason, expected in ((1, RECORDED), (2, EMPTY), (3, DENIED), (4, UNFIT), (99, UNFIT)):
            with self.subTest(reason):
                for _ in cases.attempts():
                    lines = self.run_with_fake("status", lambda data, fds, r=reason: (wire.no_lease(r), []))
                    if lines != NO_ANSWER:
                        break
                self.assertEqual(lines, [f"daemon {KNOWN}, then {ANSWERED}, reason {expected}"])

    def test_a_daemon_that_puts_off(self):
        """At the open it is asked once more, however often it puts off."""
        def put_off(data, asked):
            asked.append(wire.kind_of(data))
            return wire.no_lease(wire.LATER), []
        for _ in cases.attempts():
            asked = []  # a daemon of a run before may still read what it was asked
            lines = self.run_with_fake("status", lambda data, fds, to=asked: put_off(data, to))
            if lines != NO_ANSWER:
                break
        self.assertEqual(lines, [f"daemon {KNOWN}, then {ANSWERED}, reason {UNFIT}"])
        self.assertEqual(asked, [wire.REQUEST] * len(["at the list", "at the open", "once more"]))

    def test_a_daemon_that_hangs_up(self):
        self.assertEqual(self.run_with_fake("status", lambda data, fds: None), NO_ANSWER)

    def test_a_provider_that_is_not_known(self):
        self.assertEqual(self.run_with_fake("status", lambda data, fds: (wire.no_lease(), []), "uverbs0 -\n"),
                         [f"daemon {KNOWN}, then {KNOWN}, reason {PROVIDER}"])

    def test_good_answer_by_hand(self):
        """Checks the fake daemon: without this the cases below would show nothing."""
        self.assertEqual(self.answered(wire.pool_state(), []), ["asked"])

    def test_answers_that_are_none(self):
        good = wire.pool_state()
        for name, data in (("another version", wire.pool_state(version=wire.VERSION + 1)),
                           ("another magic", wire.pool_state(magic=1)),
                           ("another length", wire.pool_state(claimed=1 << 30)),
                           ("another type", wire.no_lease()),
                           ("an unknown type", wire.message(99, bytes(8))),
                           ("the question", wire.message(wire.POOL, bytes(128))),
                           ("too short", wire.with_length(good[:-1])),
                           ("too long", wire.with_length(good + bytes(1))),
                           ("far too long", wire.with_length(good + bytes(1 << 16))),
                           ("a byte", b"x")):
            with self.subTest(name):
                self.assertEqual(self.answered(data, []), ["EPROTO"])

    def test_answer_with_descriptors(self):
        """The library closes them and takes the answer."""
        null = [os.open("/dev/null", os.O_RDONLY) for _ in range(5)]
        self.assertEqual(self.answered(wire.pool_state(), null), ["asked"])

    def test_no_answer_but_the_end(self):
        """A daemon that does not know the question closes the connection."""
        self.assertEqual(self.answered(), ["ECONNRESET"])


if __name__ == "__main__":
    bed.main()
