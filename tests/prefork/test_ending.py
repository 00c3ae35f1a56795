#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Children and zygotes that end, fork or close descriptors in every way: no set is lost, and nothing is left."""

import os
import signal
import time

import zygotes
from zygotes import END, INIT, PLAIN, SETS, WORK, bed

ROUNDS, MOMENT_US = 30, 200
LOOK_SECONDS = 1.1  # all sets have been looked at again by then
# Children that never open the device.
UNINTERESTED = {"exit": "exit", "returns": "cpuinfo", "exec": "exec", "crash": "crash", "daemon": "daemon exit",
                "closefrom": "closefrom exit", "closefrom_and_exec": "closefrom exec", "forks": "fork:exit fork:crash"}
# Children that open it after something else.
ODD = {
    "closefrom": f"closefrom {PLAIN}",
    "daemon": f"daemon {PLAIN}",
    "daemon_closefrom": f"daemon closefrom {PLAIN}",
    "closefrom_daemon": f"closefrom daemon {PLAIN}",
    "double_daemon": f"daemon daemon {PLAIN}",
    "forks_first": f"fork:exit fork:crash {PLAIN}",
    "forks_between": f"open fork:exit pd fork:exit cq fork:crash qp:rc fork:exit move:init fork:now {WORK} {END}",
    "exec_at_last": f"{INIT} exec",
    "crash_at_once": "open crash",
    "crash_at_last": f"{INIT} {WORK} crash",
    "exit_with_all": f"{INIT} {WORK} exit:status=5",
    "closes_all": f"{INIT} {WORK} closefrom",
    "another_after": f"{PLAIN} {PLAIN}",
}


class Children(zygotes.Case):
    def check_uninterested(self, words):
        """Sets that they do not take are offered again: after more of them than sets, the next child takes one."""
        plain = self.plain(words, PLAIN)
        started = self.taught(PLAIN)
        for _ in range(2 * SETS):
            self.assertEqual(started.run(words).shape, plain[0])
        self.await_sets(SETS)
        child = started.run(PLAIN)
        self.assertEqual(child.shape, plain[1])
        self.assert_ready(child)
        self.finish(started)

    def check_odd(self, words):
        plain = self.plain(words)[0]
        started = self.taught(PLAIN)
        for _ in range(SETS):
            self.assertEqual(started.run(words).shape, plain, started.errors())
        self.await_sets(SETS, more=True)
        self.assert_ready(started.run(PLAIN))
        self.finish(started)

    def test_sleepers(self):
        """Children that open the device late or never do not keep sets from others."""
        plain = self.plain(PLAIN)[0]
        started = self.taught(PLAIN)
        sleepers = [started.fork(f"at:asleep {PLAIN}").reach("asleep") for _ in range(2 * SETS)]
        for _ in range(SETS):
            self.assertEqual(started.run(PLAIN).shape, plain)
        for child in sleepers[::2]:
            child.go_on()
            self.assertEqual(child.finish().shape, plain)
        for child in sleepers[1::2]:
            os.kill(child.pid, signal.SIGKILL)
            self.assertEqual(child.finish().status, -signal.SIGKILL)
        self.await_sets(SETS)
        self.assert_ready(started.run(PLAIN))
        self.finish(started)

    def test_sleeper_and_restless(self):
        """A child that sleeps does not keep a set from later children. The number of contexts does not tell when the
        next set is there: until the zygote looks, that of the set that a child took is open there too."""
        started = self.taught(PLAIN, sets=2)
        sleeper = started.fork(f"at:asleep {PLAIN}").reach("asleep")
        for taken in range(1, 6):
            child = started.run(PLAIN)
            self.assert_ready(child)
            self.await_made(started, 2 + taken)
        sleeper.go_on()
        self.assertEqual(sleeper.finish().status, 0)
        self.finish(started)

    def test_nested(self):
        """Zygotes of zygotes: children of each level work while the other levels live."""
        plain = self.plain(PLAIN)[0]
        levels = [self.taught(PLAIN)]
        for _ in range(3):
            levels.append(levels[-1].zygote())
        for _ in range(4):
            for level in levels:
                self.assertEqual(level.run(PLAIN).shape, plain, level.errors())
        for above, below in reversed(list(zip(levels, levels[1:]))):
            below.end()
            self.assertEqual(above.wait(below.pid), 0)
        self.await_sets(SETS)
        self.assert_ready(levels[0].run(PLAIN))
        self.finish(levels[0])

    def test_grandchildren_do_not_share(self):
        """A child's children do not get the set that was offered to it."""
        started = self.taught(PLAIN)
        nested = started.zygote()
        words = f"{INIT} at:ready {WORK} {END}"
        children = [z.fork(words).reach("ready") for z in (nested, started) for _ in range(SETS)]
        numbers = [child.remarks("qp")[0] for child in children]
        self.assertEqual(len(set(numbers)), len(numbers))
        for child in children:
            child.go_on()
            self.assertEqual(child.finish().status, 0)
        nested.end()
        self.assertEqual(started.wait(nested.pid), 0)
        self.finish(started)

    def nest(self, started, sets=0):
        """The results of children whose fork runs a handler that forks, and of a call for programs without threads.
        From the second fork on, the zygote has @sets."""
        self.assertEqual(started.ask("nest"), 0)  # before the first fork: between handlers of the library's
        children = []
        for i in range(4):
            children.append(started.run(PLAIN))
            self.await_sets(sets if i else 0)  # not quiet alone: the thread that makes them may not have begun
        return children, started.ask("do", "unshare")

    def test_forks_in_fork_handlers(self):
        plain = self.start(warm=False)
        expected, result = self.nest(plain)
        self.assertEqual(plain.end(), 0)
        started = self.start()
        children, warm_result = self.nest(started, SETS)
        self.assertEqual([child.shape for child in children], [child.shape for child in expected], started.errors())
        self.assertEqual(warm_result, result)
        for child in children[2:]:
            self.assert_ready(child)
        self.finish(started)

    def test_child_of__Fork_forks(self):
        """It does what it does plainly, and takes no set that a child of the zygote gets."""
        plain = self.start(warm=False)
        expected = plain.ask("unseen", *PLAIN.split()), plain.run(PLAIN).shape
        self.assertEqual(plain.end(), 0)
        started = self.taught(PLAIN)
        self.await_quiet()
        self.assertEqual(started.ask("unseen", *PLAIN.split()), expected[0], started.errors())
        child = started.run(PLAIN)
        self.assertEqual(child.shape, expected[1], started.errors())
        self.assert_ready(child)
        self.finish(started)

    def test_while_another_thread_forks(self):
        plain = self.plain(PLAIN)[0]
        started = self.taught(PLAIN)
        self.assertEqual(started.ask("thread"), 0)
        for _ in range(50):
            self.assertEqual(started.run(PLAIN).shape, plain)
        self.assertEqual(started.ask("rest"), 0)
        self.await_sets(SETS)
        self.assert_ready(started.run(PLAIN))
        self.finish(started)


class Zygotes(zygotes.Case):
    def orphans(self, started):
        """Children at several stages."""
        all_words = [f"at:here {PLAIN}", f"open at:here {PLAIN}", f"{INIT} at:here {WORK} {END}",
                     f"{INIT} {WORK} at:here traffic {END}"]
        self.all_plain = [words.replace("at:here ", "") for words in all_words]
        return [started.fork(words).reach("here") for words in all_words]

    def check_orphans(self, end):
        started = self.taught(PLAIN)
        children = self.orphans(started)
        end(started)
        plain = self.plain(*self.all_plain)
        for child, shape in zip(children, plain):
            child.go_on()
            self.assertEqual(child.read().shape[1], shape[1])
        self.await_nothing()

    def test_ends_before_its_children(self):
        self.check_orphans(lambda started: started.end())

    def test_killed_before_its_children(self):
        self.check_orphans(lambda started: started.kill())

    def check_closes_all(self):
        """The zygote closes all descriptors, its sets' too. Its children still work and find new sets, and files
        that it opens later are left alone, though their numbers were those of sets."""
        plain = self.plain(PLAIN)[0]
        started = self.taught(PLAIN)
        for _ in range(2):
            self.assertEqual(started.ask("close"), 0)
            self.assertEqual(started.ask("do", *INIT.split()), 0)
            for _ in range(4):
                self.assertEqual(started.run(PLAIN).shape, plain, started.errors())
            bed.until(lambda: not bed.ctl("objects")["kept_by_mappings"], "the end of what was closed")
            self.await_sets(1 + SETS)  # and its own context
            self.assertEqual(started.ask("do", *f"{WORK} {END}".split()), 0)
            self.assertEqual(started.run(PLAIN).shape, plain, started.errors())
            self.await_sets(SETS)
        self.finish(started)

    def test_closes_all_descriptors(self):
        self.check_closes_all()

    def test_closes_all_descriptors_of_leases(self):
        self.start_daemon()
        self.check_closes_all()

    def test_closes_all_descriptors_before(self):
        plain = self.plain(PLAIN)[0]
        started = self.start()
        self.assertEqual(started.ask("close"), 0)
        for _ in range(4):
            self.assertEqual(started.run(PLAIN).shape, plain)
        self.finish(started)

    def missing(self, started, rounds):
        """Puts files at the numbers of sets at any moment while the zygote makes and ends these. Returns how many are
        missing later."""
        n = 0
        for moment in range(rounds):
            self.assertEqual(started.run(PLAIN).status, 0, started.errors())
            self.assertEqual(started.ask("place", MOMENT_US * moment), 0)
            self.await_quiet()
            n += started.ask("missing")
        return n

    def test_other_files_at_its_numbers(self):
        self.assertEqual(self.missing(self.start(warm=False), 1), 0)
        started = self.start()
        self.assertEqual(self.missing(started, ROUNDS), 0)
        self.finish(started)

    def test_other_files_at_all_its_numbers_unseen(self):
        """No set is lost unnoticed, and neither the zygote nor its children close other files in its place."""
        plain = self.start(warm=False)
        started = self.taught(PLAIN)
        for zygote in plain, started:
            self.assertEqual(zygote.ask("place", 0, "raw"), 0)
            self.assertEqual(zygote.ask("missing"), 0)
        child = started.run(PLAIN)
        self.assertEqual(child.shape, plain.run(PLAIN).shape)
        self.assertEqual(plain.end(), 0)
        self.finish(started)

    def place_one(self, process, choose):
        """Puts a file between descriptors of sets, unseen."""
        numbers = {int(name) for name in os.listdir(f"/proc/{process.pid}/fd") if 2 < int(name) < 40}
        between = choose(number for number in numbers if {number - 1, number + 1} <= numbers)
        self.assertEqual(process.ask("place", 0, "raw", between), 0)

    def test_closes_the_higher_numbers_unseen(self):
        """Sets that children were offered lose their numbers, and new sets get some of these. Later children keep the
        files that the zygote has between the sets."""
        started = self.taught(PLAIN, sets=SETS + 1, WARMVERBS_TRACE="")
        children = [started.fork("at:asleep exit").reach("asleep") for _ in range(2)]
        self.assertEqual(started.ask("sweep", 5, 2), 0)  # from the second set's first number on
        for _ in range(2):
            started.run("exit")
            self.await_quiet()
            children.append(started.fork("at:asleep exit").reach("asleep"))
        self.await_quiet()
        self.assertEqual(started.ask("missing"), 0)
        for child in children:
            child.go_on()
            self.assertEqual(child.finish().status, 0)
        self.finish(started)

    def test_opens_the_device_at_numbers_of_sets(self):
        """The zygote has closed all, unseen. Neither it nor its children take the device for that of a set."""
        plain = self.plain(PLAIN)[0]
        started = self.taught(PLAIN, WARMVERBS_TRACE="")
        self.assertEqual(started.ask("sweep", 3, 0, *INIT.split()), 0)
        for _ in range(SETS):
            self.assertEqual(started.run(PLAIN).shape, plain, started.errors())
        self.await_made(started, 2 * SETS + 1)  # and its own
        self.assertEqual(started.ask("do", *f"{WORK} {END}".split()), 0)
        self.finish(started)

    def test_another_file_at_one_number_in_a_sandbox(self):
        """Where no thread of the library is, the next fork looks."""
        started = self.taught(PLAIN, WARMVERBS_TRACE="")
        self.assertEqual(started.ask("do", "seccomp"), 0)
        self.place_one(started, max)
        time.sleep(LOOK_SECONDS)
        self.assertEqual(started.ask("missing"), 0)
        self.assertEqual(started.end(), 0)

    def test_another_file_at_one_number(self):
        """The zygote finds out by itself, and makes another set. Its children do not close the file."""
        started = self.taught(PLAIN, WARMVERBS_TRACE="")
        self.place_one(started, max)
        self.await_made(started, SETS + 1)
        self.assertEqual(started.ask("missing"), 0)
        self.finish(started)

    def looks_while_a_child_sleeps(self):
        """Whether it makes another set before it gives up the one that a child was offered."""
        started = self.taught(PLAIN)
        child = started.fork(f"at:asleep {PLAIN}").reach("asleep")
        self.await_quiet()
        made = bed.counts(started.pid)["RST2INIT_QP"]
        self.place_one(started, max)
        self.await_made(started, made + 1)
        self.assertEqual(started.ask("missing"), 0)
        child.go_on()
        self.assertEqual(child.finish().status, 0)
        self.finish(started)
        return self.ready(child)

    def test_another_file_at_one_number_while_a_child_sleeps(self):
        """The offer ends after 10 s; a machine may stand still for that long."""
        self.assertTrue(any(self.looks_while_a_child_sleeps() for _ in range(3)))

    def test_another_file_at_one_number_of_a_child(self):
        """Nobody looks there: when it forks, its child does not close the file."""
        words = "open channel pd cq:channel qp:rc move:init"
        started = self.taught(f"{words} destroy:qps destroy:cqs destroy:channel destroy:pd close", WARMVERBS_TRACE="")
        child = started.zygote()
        self.place_one(child, min)
        self.assertEqual(child.ask("missing"), 0)
        child.end()
        self.assertEqual(started.wait(child.pid), 0)
        self.finish(started)

    def test_ends_while_it_makes_sets(self):
        """At any moment while it makes them."""
        for moment in range(10):
            started = self.start()
            started.run(PLAIN)
            started.run("exit")
            bed.until(lambda: bed.ctl("objects")["contexts"], "sets being made")
            time.sleep(0.005 * moment)
            (started.kill if moment % 2 else started.end)()
            self.await_nothing()

    def test_idle_zygote_costs_nothing(self):
        """Descriptors, mappings and threads of the zygote do not grow."""
        started = self.taught(PLAIN)
        before, mappings = self.held(started), started.mappings()
        for _ in range(20):
            started.run(PLAIN)
            self.await_sets(SETS)
        self.assertEqual(self.held(started), before)
        self.assertLessEqual(started.mappings(), mappings + 4)  # the heap may be mapped in more pieces
        self.finish(started)

    def test_device_is_removed(self):
        """Sets are closed, though no child is forked."""
        started = self.taught(PLAIN)
        bed.ctl("remove")
        bed.until(lambda: not bed.ctl("objects")["async_files"], "the sets are closed")
        bed.ctl("return")
        started.run(PLAIN)
        self.await_sets(SETS)
        self.assert_ready(started.run(PLAIN))
        self.finish(started)

    def test_sandbox(self):
        """No thread of the library is in a zygote that has entered one."""
        started = self.taught(PLAIN)
        started.run("exit")
        self.assertEqual(started.threads(), 2)
        self.assertEqual(started.ask("do", "seccomp"), 0)
        self.assertEqual(started.threads(), 1)
        self.assertEqual(started.run(PLAIN).shape, self.plain(PLAIN)[0])
        self.assertEqual(started.end(), 0)

    def test_device_comes_back(self):
        """A child gets no set of the device that was there before, but one of the new."""
        started = self.taught(PLAIN)
        bed.ctl("remove")
        bed.ctl("return")
        self.assertEqual(self.ready(started.run(PLAIN)), 0)
        self.await_sets(SETS)
        self.assert_ready(started.run(PLAIN))
        self.finish(started)

    def test_few_descriptors(self):
        """Sets do not use up the descriptors that the program may open."""
        plain = self.plain(PLAIN)[0]
        started = self.start(sets=60, prefix=["prlimit", "--nofile=128:128"])
        for _ in range(8):
            self.assertEqual(started.run(PLAIN).shape, plain)
            self.await_quiet()
        self.finish(started)


def add_cases():
    for name, words in UNINTERESTED.items():
        setattr(Children, f"test_uninterested_{name}", lambda self, words=words: self.check_uninterested(words))
    for name, words in ODD.items():
        setattr(Children, f"test_odd_{name}", lambda self, words=words: self.check_odd(words))


add_cases()
if __name__ == "__main__":
    zygotes.main()
