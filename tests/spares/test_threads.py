#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The thread that makes spares: which programs have it, and when it is gone again."""

import os
import pathlib
import signal
import unittest

from support import bed, cases, trace
from test_server import END, SHOWING, Case, one

NOT_TOLD = {"WARMVERBS_SPARES": ""}
SERVER = "open pd cq" + one() * SHOWING
IDLE_S = 7  # the spares go, and then the thread


def threads(program):
    return bed.own_threads(program.pid)


class Threads(Case):
    def start_server(self, *args, **kwargs):
        self.learn("open pd cq" + one())
        return super().start_server(*args, **kwargs)

    def reach_shown(self, words="", **kwargs):
        """A program that has shown its pattern: to any worker there has been time to make spares."""
        for _ in cases.attempts():
            self.daemon.await_ready(self.name)
            program = self.start(SERVER.replace("cq", "cq" + words, 1) + " rest:ms=300 at:shown" + END, True, **kwargs)
            program.reach("shown")
            if trace.opens(program.events(), trace.ADOPTED):
                return program
            program.finish()
        raise AssertionError(f"no lease in {cases.PATIENCE} runs or more")


class Consent(Threads):
    """Who has a thread of the library."""

    def setUp(self):
        super().setUp()
        self.learn("open pd cq" + one())

    def check_none(self, words="", **kwargs):
        program = self.reach_shown(words, **kwargs)
        self.assertEqual((threads(program), self.spares(program)), ([], 0))
        self.assertEqual(program.finish().failures, [])

    def check_some(self, words="", **kwargs):
        program = self.reach_shown(words, **kwargs)
        bed.until(lambda: self.spares(program), "spares")
        self.assertEqual(len(threads(program)), 1)
        self.assertEqual(program.finish().failures, [])

    def test_one_thread(self):
        self.check_none(env=NOT_TOLD)

    def test_two_threads(self):
        self.check_some(" thread", env=NOT_TOLD)

    def test_limited_addresses(self):
        """However many there may be: a thread takes many."""
        self.check_none(" thread limit:addresses,n=0x4000000000000000", env=NOT_TOLD)

    def test_limited_tasks(self):
        """A thread of the library could be the last one that the user of the program may have."""
        self.check_none(" thread limit:tasks,n=4095", env=NOT_TOLD)

    def test_told(self):
        self.check_some()

    def test_environment(self):
        """libmlx5 was told that there is one thread. It would abort the program."""
        self.check_none(" thread", env={"MLX5_SINGLE_THREADED": "1"})

    def test_environment_without_meaning(self):
        self.check_some(env={"MLX5_SINGLE_THREADED": "yes"})

    def test_single_threaded_queue(self):
        """Of any queue of the device."""
        self.check_none(" thread cq:ex,single cq")

    def test_single_threaded_queue_of_libmlx5(self):
        """By `mlx5dv_create_cq()`."""
        self.check_none(" thread cq:ex,single,dv cq")

    def test_allocators(self):
        """Of the program's, for all queues of the context. They may not be for several threads."""
        self.check_none(" thread allocators cq")

    def test_extended_queue(self):
        self.check_some(" cq:ex cq")

    def test_parent_domain(self):
        self.check_none(" parent")

    def test_child_of_threads(self):
        """A child of a process with threads has one."""
        words = f"open pd cq thread turn:child pd cq{one() * SHOWING} rest:ms=300 at:shown turn:end"
        plain = self.run_plain(words)
        warm = self.run_warm(words, env={**NOT_TOLD, "TSAN_OPTIONS": "die_after_fork=0"})
        self.assertEqual(warm.shape(), plain.shape(), warm.errors)


class Manners(Threads):
    """How it is among the program's threads."""

    def test_alone(self):
        """It blocks all signals, and has its own name, policy and processors."""
        program = self.start_server(one())
        thread, = threads(program)
        self.assertEqual(os.sched_getscheduler(thread), os.SCHED_OTHER)
        self.assertEqual(os.sched_getaffinity(thread), os.sched_getaffinity(program.pid))
        status = pathlib.Path(f"/proc/{program.pid}/task/{thread}/status").read_text()
        blocked = int(status.split("SigBlk:")[1].split()[0], 16)
        self.assertFalse(~blocked >> signal.SIGTERM - 1 & 1)

    def test_ends_when_idle(self):
        """And comes again."""
        program = self.start_server(one(), then=f"{one() * SHOWING} at:again" + END)
        bed.until(lambda: not threads(program), "it ends")
        before = self.spares(program)
        program.go_on()
        program.reach("again")
        bed.until(lambda: threads(program) and self.spares(program) > before, "it makes spares again")
        self.assertEqual(program.finish().failures, [])


class Ending(Threads):
    """When the program changes, no thread has what it has given up."""

    def check_gone(self, words, after=None, **kwargs):
        """@words are done as plainly, and no thread is left by then."""
        warm = self.start_server(one(), then=f" {words} at:changed{after or one()}" + END, **kwargs)
        self.assertEqual(len(threads(warm)), 1)
        warm.go_on()
        warm.reach("changed")
        self.assertEqual(threads(warm), [])
        result = warm.finish()
        plain = self.run_plain(f"{SERVER} at:shown {words} at:changed{after or one()}" + END)
        self.assertEqual(result.shape(), plain.shape(), result.errors)
        self.assertEqual(result.status, 0)

    def test_no_new_privileges(self):
        self.check_gone("seccomp")

    def test_sandbox(self):
        """a sandbox for all threads (SECCOMP_FILTER_FLAG_TSYNC) that kills at almost any system call, announced by
        `prctl()`"""
        self.check_gone("seal", after=f" rest:ms={IDLE_S * 1000}")

    @unittest.skipIf(bed.TSAN, "ThreadSanitizer has a thread of its own, which stays")
    def test_user_namespace(self):
        """`unshare()` or `setns()` into a user namespace, which needs a process with one thread"""
        self.check_gone("unshare")

    def test_capabilities(self):
        """`setuid()`, `setgroups()`, `capset()` and the like"""
        self.check_gone("capset")

    def test_user(self):
        self.check_gone(f"setuid:id={os.geteuid()}")

    def test_spares_for_another_user(self):
        """The thread comes again, as the user that the program is by now."""
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        program = self.start_server(one(), then=f" setuid:id={user}{one() * SHOWING} at:again" + END)
        program.go_on()
        program.reach("again")
        thread, = bed.until(lambda: threads(program), "a thread")
        self.assertEqual(pathlib.Path(f"/proc/{program.pid}/task/{thread}").stat().st_uid, user)

    @unittest.skipIf(bed.TSAN, "ThreadSanitizer has a thread of its own, which stays")
    def test_user_for_files(self):
        """`setfsuid()` and `setfsgid()`"""
        self.check_gone(f"setuid:files,id={os.geteuid()}")

    def test_limit_of_addresses(self):
        self.check_gone("limit:addresses,n=0x4000000000000000")

    def test_limit_of_tasks(self):
        """by `prlimit()`"""
        self.check_gone("limit:tasks,n=4095,prlimit")

    @unittest.skipIf(os.geteuid(), "only root can be a user who has no other process")
    @unittest.skipIf(bed.TSAN, "ThreadSanitizer has a thread of its own, which stays")
    def test_last_task(self):
        """a limit of the threads of its user (`RLIMIT_NPROC`), all of which it uses"""
        user = 100000 + os.getpid()
        then = f" setuid:id={user}{one() * SHOWING} at:again limit:tasks,n=2 thread"
        program = self.start_server(one(), then=then + END)
        program.go_on()
        program.reach("again")
        bed.until(lambda: threads(program), "a thread")
        self.assertEqual(program.finish().failures, [])

    @unittest.skipIf(bed.TSAN, "ThreadSanitizer has a thread of its own, which stays")
    def test_main_is_cancelled(self):
        """`main()` ends before the process, by `pthread_exit()` or because it is cancelled"""
        words = f"{SERVER} at:shown leave:cancelled"
        self.assertEqual(self.run_plain(words).status, 0)
        program = self.start_server(one(), then=" leave:cancelled")
        program.go_on()
        self.assertEqual(program.process.wait(timeout=5), 0)

    @unittest.skipIf(bed.TSAN, "ThreadSanitizer has a thread of its own, which stays")
    def test_main_leaves(self):
        """The process ends with its last thread."""
        program = self.start_server(one(), then=" leave")
        program.go_on()
        self.assertEqual(program.process.wait(timeout=5), 0)

    def test_signal_after_main(self):
        """Another thread serves on, and a signal ends it."""
        program = self.start_server(one(), before="thread open pd cq", then=" leave")
        program.go_on()
        bed.until(lambda: not threads(program), "no thread of the library")
        self.assertIsNone(program.process.poll())
        program.process.send_signal(signal.SIGTERM)
        self.assertEqual(program.process.wait(timeout=5), -signal.SIGTERM)

    def test_child_with_the_same_memory(self):
        """What a child of vfork() gives up is its own affair."""
        program = self.start_server(one(), then=f" vfork:rights at:after{one() * 2 * SHOWING} at:more" + END)
        program.go_on()
        program.reach("after")
        self.assertEqual(len(threads(program)), 1)
        before = self.spares(program)
        program.go_on()
        program.reach("more")
        bed.until(lambda: self.spares(program) > before, "more spares")
        self.assertEqual(program.finish().failures, [])


if __name__ == "__main__":
    bed.main()
