#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that make one queue pair after another, as a server does for its clients."""

import errno
import signal

from support import bed, trace

SHOWING = 6  # queue pairs; the last ones of them find the pattern shown
END = " at:end destroy:qps destroy:cqs"


def one(qp="qp:rc", init="move:init", end="move:rtr,rts"):
    return f" {qp} {init} {end}"


def own(events, what):
    """How many of the program's own commands that make @what reached the device."""
    return [made for how in (trace.KERNEL, trace.RECORDED) for made in trace.made(events, how)].count(what)


class Case(bed.Case):
    program = bed.WORDS

    def start(self, words, warm, **kwargs):
        return super().start(words, warm, **{"program": self.program, **kwargs})

    def spares(self, program):
        """How many queue pairs were made that the program has not asked for."""
        return bed.counts(program.pid).get("CREATE_QP", 0) - own(program.events(), "create_qp")

    def start_server(self, words, showing=SHOWING, before="open pd cq", then=END):
        """A program that has shown its pattern, and for which spares have been made; its lease has one queue pair."""
        if not self.daemon.recipes(self.name):
            self.learn(before + words)
        for _ in range(bed.PATIENCE):
            self.daemon.await_ready(self.name)
            program = self.start(before + words * showing + " at:shown" + then, True)
            program.reach("shown")
            if trace.opens(program.events(), trace.ADOPTED):
                bed.until(lambda: self.spares(program), "spares")
                return program
            program.finish()
        raise AssertionError(f"no lease in {bed.PATIENCE} runs")

    def compare_server(self, words, then=None, showing=SHOWING, before="open pd cq", failures=0):
        """A server that has spares prints what it prints plainly. Returns its result."""
        then = (words * 2 if then is None else then) + END
        plain = self.run_plain(before + words * showing + " at:shown" + then)
        self.assertEqual((plain.status, len(plain.failures)), (0, failures), plain.lines)
        warm = self.start_server(words, showing, before, then).finish()
        self.assertEqual(warm.shape(), plain.shape(), warm.errors)
        return warm


class Server(Case):
    def serve(self, words, before="open pd cq"):
        warm = self.compare_server(words, before=before)
        # The two after the pattern was shown were made by nobody but the library.
        self.assertLessEqual(own(warm.events, "create_qp"), SHOWING)
        self.assertLessEqual(own(warm.events, "init"), SHOWING * words.count("init"))

    def test_rc(self):
        self.serve(one())

    def test_uc(self):
        self.serve(one("qp:uc"))

    def test_ud(self):
        self.serve(one("qp:ud"))

    def test_srq(self):
        self.serve(one("qp:rc,srq"), "open pd cq srq")

    def test_init_twice(self):
        """As librdmacm does."""
        self.serve(one(init="move:init,access=0 move:init"))

    def test_receives(self):
        """What is posted to a spare arrives."""
        warm = self.compare_server(one(), then=one(end="move:rtr,rts traffic") * 2)
        self.assertLessEqual(own(warm.events, "create_qp"), SHOWING)

    def test_loaded(self):
        """A program that loads libibverbs itself."""
        self.program = bed.LOADED
        self.serve(one())

    def test_few_queue_pairs(self):
        """A program that makes two queue pairs has shown no pattern."""
        self.learn("open pd cq" + one())
        program = self.start("open pd cq" + one() * 2 + END, True)
        program.reach("end")
        self.assertEqual(self.spares(program), 0)

    def test_off(self):
        self.learn("open pd cq" + one())
        program = self.start("open pd cq" + one() * 2 * SHOWING + END, True, env={"WARMVERBS_SPARES": "0"})
        program.reach("end")
        self.assertEqual(self.spares(program), 0)

    def test_told(self):
        """The daemon counts them, though the program runs on."""
        program = self.start_server(one(), then=one() * 2 + " at:served" + END)
        program.go_on()
        program.reach("served")
        recipe, = bed.until(lambda: [r for r in self.daemon.recipes(self.name) if r["counters"]["spares"]],
                            "the daemon learns of spares")
        self.assertEqual(recipe["counters"]["reports"], 1)

    def test_explained(self):
        warm = self.compare_server(one())
        made = trace.made(warm.events, trace.SPARE)
        self.assertGreaterEqual(made.count("create_qp"), 2)
        self.assertEqual(made, ["create_qp", "init"] * (len(made) // 2))

    def test_idle(self):
        """They are given back."""
        program = self.start_server(one(), then=END)
        bed.until(lambda: self.alive(program) == SHOWING, "the program has its own queue pairs only")

    def alive(self, program):
        counts = bed.counts(program.pid)
        leased = trace.made(program.events(), trace.ADOPTED).count("create_qp")
        return leased + counts["CREATE_QP"] - counts.get("DESTROY_QP", 0)


class Unwanted(Case):
    """The administrator wants none."""

    daemon_options = ("--spares", "no")

    def test_off(self):
        self.learn("open pd cq" + one())
        self.daemon.await_ready(self.name)
        program = self.start("open pd cq" + one() * 2 * SHOWING + END, True)
        program.reach("end")
        self.assertEqual(self.spares(program), 0)


class Differing(Case):
    """The program does something else with a spare than it did before."""

    def test_other_access(self):
        self.compare_server(one(), then=one(init="move:init,access=0 query") + one(init="move:init query"))

    def test_first_of_two_moves(self):
        """The spare was moved twice already, and the program moves it once."""
        twice = one(init="move:init,access=0 move:init")
        self.compare_server(twice, then=one(init="move:init,access=0 query") + twice)

    def test_query_in_reset(self):
        self.compare_server(one(), then=" qp:rc query move:init query move:rtr,rts query")

    def test_receives_before_another_move(self):
        """They are posted when the program has moved the spare once, and it will move it in another way."""
        twice = one(init="move:init,access=0 move:init")
        self.compare_server(twice, then=one(init="move:init,access=0", end="move:rtr,rts traffic"))

    def test_destroyed_at_once(self):
        self.compare_server(one(), then=f" qp:rc destroy:qp={SHOWING} qp:rc move:init destroy:qp={SHOWING + 1}" + one())

    def test_new_pattern(self):
        """Three queue pairs of another kind have spares of that kind."""
        other = one(init="move:init,access=0")
        self.compare_server(one(), then=other * SHOWING + " query")


class Ending(Case):
    """What spares use is destroyed, or the process changes."""

    def test_destroy_cq_and_pd(self):
        warm = self.compare_server(one(), then=" destroy:qps destroy:cqs destroy pd cq" + one())
        self.assertEqual(warm.status, 0)

    def test_destroy_srq(self):
        self.compare_server(one("qp:rc,srq"), before="open pd cq srq", then=" destroy:qps destroy:srq destroy")

    def test_close_with_spares(self):
        self.compare_server(one(), then=" destroy:qps destroy:cqs destroy close open pd cq" + one() * SHOWING)

    def test_fork(self):
        """The child takes no spare of its parent, and makes none on what it inherits."""
        self.compare_server(one(), then=f" turn:child{one()} destroy:qp={SHOWING} turn:end" + one())

    def test_exit(self):
        self.assertEqual(self.start_server(one(), then=" at:last").finish().status, 0)

    def test_exit_at_once(self):
        self.assertEqual(self.start_server(one(), then=" at:last exit").finish().status, 0)

    def test_killed(self):
        self.start_server(one()).finish()
        self.daemon.await_ready(self.name)
        before = bed.ctl("objects")
        program = self.start_server(one())
        program.process.send_signal(signal.SIGKILL)
        program.process.wait()
        self.daemon.await_ready(self.name)
        bed.until(lambda: bed.ctl("objects") == before, "its objects are gone")

    def test_device_at_its_limit(self):
        """The program gets the queue pair that a spare gives way to."""
        for _ in range(bed.PATIENCE):  # the device may refuse a spare instead
            program = self.start_server(one(), then=" qp:rc,send=8 at:more" + END)
            bed.ctl("fail", "create_qp", errno.ENOMEM, 1, 1, program.pid)
            program.go_on()
            program.reach("more")
            destroyed = bed.counts(program.pid).get("DESTROY_QP")
            result = program.finish()
            self.assertEqual(result.failures, [])
            if errno.ENOMEM in [event.error for event in result.events if event.makes == "create_qp"]:
                self.assertTrue(destroyed)
                return
        self.fail("the device refused the program no queue pair")

    def test_removed(self):
        """It learns so with RTR at the latest, and ends."""
        program = self.start_server(one(), then=one() + " at:end")
        bed.ctl("remove")
        self.addCleanup(bed.ctl, "return")
        self.assertTrue(program.finish().failures)

    def test_threads(self):
        """Threads that serve, destroy what spares use, and fork."""
        server = str(bed.BUILD / "tests/programs/server")
        runs = [self.run_warm([], program=server) for _ in range(3)]
        for run in runs:
            self.assertEqual((run.status, run.lines), (0, ["4 threads, 3 rounds, 12 clients, ok"]), run.errors)
        self.assertLess(min(own(run.events, "create_qp") for run in runs), 4 * 3 * 12 * 2)

    def test_sandbox(self):
        """It would be killed by the first system call that starts a thread or makes a spare."""
        self.compare_server(one(), then=" seccomp at:inside")


if __name__ == "__main__":
    bed.main()
