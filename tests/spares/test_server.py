#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that make one queue pair after another, as a server does for its clients."""

import errno
import pathlib
import signal
import unittest

from support import bed, cases, trace

SHOWING = 6  # queue pairs; the last ones of them find the pattern shown
END = " at:end destroy:qps destroy:cqs"


def one(qp="qp:rc", init="move:init", end="move:rtr,rts"):
    return f" {qp} {init} {end}"


def own(events, what):
    """How many of the program's own commands that make @what reached the device."""
    return [made for how in (trace.KERNEL, trace.RECORDED) for made in trace.made(events, how)].count(what)


def shared_memory(pid):
    """The inodes of what the process may write to, and others have, too; without the memory of its lease."""
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()
    return {line.split()[4] for line in lines if line.split()[1] == "rw-s" and "/memfd:warmverbs " not in line}


class Case(bed.Case):
    program = bed.WORDS

    def start(self, words, warm, **kwargs):
        return super().start(words, warm, **{"program": self.program, **kwargs})

    def spares(self, program):
        """How many queue pairs were made that the program has not asked for."""
        return bed.counts(program.pid).get("CREATE_QP", 0) - own(program.events(), "create_qp")

    def is_quiet(self, program):
        """Whether no command comes any more: a spare that the device has just made is not in the stock yet."""
        return bed.is_at_rest(program.pid)

    def start_server(self, words, showing=SHOWING, before="open pd cq", then=END, **kwargs):
        """A program that has shown its pattern, and for which spares have been made; its lease has one queue pair."""
        return self.start_long(before + words, before + words * showing + " at:shown" + then, **kwargs)

    def start_long(self, short, words, **kwargs):
        """The same for a program that shows its pattern with @words, and not with @short."""
        if not self.daemon.recipes(self.name):
            self.learn(short)
        for _ in cases.attempts():
            self.daemon.await_ready(self.name)
            program = self.start(words, True, **kwargs)
            program.reach("shown")
            if trace.opens(program.events(), trace.ADOPTED):
                bed.until(lambda: self.spares(program) and self.is_quiet(program), "spares")
                return program
            program.finish()
        raise AssertionError(f"no lease in {cases.PATIENCE} runs or more")

    def compare_server(self, words, then=None, showing=SHOWING, before="open pd cq", failures=0):
        """A server that has spares prints what it prints plainly. Returns its result."""
        then = (words * 2 if then is None else then) + END
        plain = self.run_plain(before + words * showing + " at:shown" + then)
        self.assertEqual((plain.status, len(plain.failures)), (0, failures), plain.lines)
        warm = self.start_server(words, showing, before, then).finish()
        self.assertEqual(warm.shape(), plain.shape(), warm.errors)
        return warm


class Server(Case):
    def serve(self, words, before="open pd cq", then=None):
        """The two after the pattern was shown were made by nobody but the library."""
        for _ in cases.attempts():  # on a busy machine, the library may come too late
            warm = self.compare_server(words, before=before, then=then)
            if own(warm.events, "create_qp") <= SHOWING:
                break
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
        self.serve(one(), then=one(end="move:rtr,rts traffic") * 2)

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

    def test_child_destroys_what_it_inherits(self):
        """It succeeds, as it does plainly. Then the parent has nothing, and no spare is left of what it had."""
        self.compare_server(one(), then=" turn:child destroy:qps destroy:cqs destroy:pd pd cq" + one("qp:rc,n=8")
                            + " turn:parent pd cq" + one() + " turn:end exit")

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
        for _ in cases.attempts():  # the device may refuse a spare instead
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

    def check_short_of(self, word, command, error=errno.ENOMEM, before="open pd cq"):
        """What the device or the process has no room for is made in the place of the spares."""
        for _ in cases.attempts():  # a spare may be refused instead, or all given back after 5 s
            program = self.start_server(one(), before=before, then=f" {word} at:more" + END)
            bed.ctl("fail", command, error, 1, 1, program.pid)
            program.go_on()
            program.reach("more")
            destroyed = bed.counts(program.pid).get("DESTROY_QP")
            result = program.finish()
            refused = error in [event.error for event in result.events if event.how == trace.KERNEL]
            if refused and destroyed and not result.failures:
                return
        self.fail(f"no {command} that the device refused was made in the place of spares: {result.failures}")

    def test_short_of_locked_memory(self):
        self.check_short_of("mr", "reg_mr")

    def test_short_of_what_a_cgroup_counts(self):
        self.check_short_of("cq", "create_cq", errno.EAGAIN)

    def test_short_of_room_for_an_extended_verb(self):
        self.check_short_of("cq:ex", "create_cq")
        self.check_short_of("qp:rc,ex,send=8", "create_qp", errno.ENOSPC)

    def test_short_of_room_for_the_provider_s_own_verb(self):
        self.check_short_of("qp:rc,dv,send=8", "create_qp")

    def test_short_of_room_for_others(self):
        self.check_short_of("pd", "alloc_pd")
        self.check_short_of("srq", "create_srq")

    def test_child_of__fork(self):
        """The same where no handler of a fork is called."""
        self.compare_server(one(), then=" turn:child,unseen destroy:qps destroy:cqs destroy:pd exit turn:parent pd cq"
                            + one() + " turn:end exit")

    def test_child_gives_all_up(self):
        """Once it has no descriptor of the device, it does not reach what its parent keeps of its spares."""
        program = self.start_server(one(), then=" turn:child at:child closefrom at:closed turn:end" + END)
        program.go_on()
        program.reach("child")
        [child] = bed.children_of(program.pid)
        before = shared_memory(child)
        self.assertEqual(before - shared_memory(program.pid), set())
        program.go_on()
        program.reach("closed")
        [gone] = before - shared_memory(child)
        self.assertIn(gone, shared_memory(program.pid))
        self.assertEqual(program.finish().failures, [])

    def test_child_at_the_limit(self):
        """What the device has no room for is made in the place of what the child's parent has spare."""
        for how in "child", "child,unseen":
            with self.subTest(how):
                self.check_child_short_of(how)

    def check_child_short_of(self, how):
        for _ in cases.attempts():  # all may be given back after 5 s
            then = f" turn:{how} at:child qp:rc,send=8 at:more destroy:qp={SHOWING} turn:end"
            program = self.start_server(one(), then=then + END)
            program.go_on()
            program.reach("child")
            child, = bed.children_of(program.pid)
            bed.ctl("fail", "create_qp", errno.ENOMEM, 1, 1, child)
            program.go_on()
            program.reach("more")
            destroyed = bed.counts(child).get("DESTROY_QP")
            result = program.finish()
            if destroyed and not result.failures:
                return
        self.fail(f"the child has no queue pair in the place of its parent's spares: {result.failures}")

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


class Rehearsal(Case):
    """A thread goes on with what has spares while another one has a rehearsal, which uses none."""

    program = str(bed.BUILD / "tests/programs/rehearsal")

    def check(self, what):
        plain = self.run_plain(f"{what} {SHOWING}")
        self.assertEqual(plain.status, 0, plain.errors)
        warm = self.start_long(f"{what} 1", f"{what} {SHOWING}").finish()
        self.assertEqual(warm.shape(), plain.shape(), warm.errors)

    def test_destroys_it_all(self):
        self.check("destroy")

    def test_connects(self):
        self.check("connect")


if __name__ == "__main__":
    bed.main()
