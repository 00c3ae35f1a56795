#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Commands fail in the daemon or the program, or the daemon ends: programs get plain verbs, and nothing is left."""

import errno
import os
import signal
import subprocess
import time

from support import bed, cases

STEPS = "open channel pd cq:channel srq qp:rc,srq qp:dct,srq move:init,rtr qp:ud move:init,rtr,rts"
WORDS = (f"{STEPS} at:ready move:init,rtr,rts,qp=0 traffic destroy:qps destroy:srq destroy:cqs destroy:channel"
         " destroy:pd close")
# The commands that make a lease of it.
COMMANDS = ("get_context", "devx_other", "query_device_ex", "query_port", "alloc_uar", "alloc_async", "alloc_pd",
            "create_channel", "create_cq", "create_srq", "create_qp", "modify_qp", "modify_qp_ex")
FIRMWARE = ("CREATE_UCTX", "ALLOC_TRANSPORT_DOMAIN", "ALLOC_UAR", "CREATE_CQ", "CREATE_RMP", "CREATE_QP",
            "RST2INIT_QP", "INIT2RTR_QP", "RTR2RTS_QP", "CREATE_DCT")
ERRORS = (errno.ENOMEM, errno.EINVAL, errno.EIO)
FOR_EVER = 1000000
SMALL = "open pd cq srq qp:rc,srq move:init"
AT_ONCE = 32


class Faults(bed.Case):
    def tearDown(self):
        bed.ctl("clear")

    def await_only_leases(self):
        """Waits until pooled leases hold all objects of the device."""
        def only_leases():
            before = self.daemon.status()["use"]["leases"]
            objects = bed.ctl("objects")
            return (objects["kept_by_mappings"] == 0 and
                    before == objects["ufiles"] == objects["contexts"] == self.daemon.status()["use"]["leases"])
        bed.until(only_leases, "no objects but of leases")


class InTheDaemon(Faults):
    def check(self, command, error):
        name = f"{command}.{error}"
        bed.ctl("fail", command, error, 1, FOR_EVER, self.daemon.pid)
        for _ in cases.attempts(free=2):
            if self.daemon.recipes(name):
                break
            recorded = self.run_warm(WORDS, name=name)
            self.assertEqual(recorded.shape(), self.plain.shape(), recorded.errors)

        def failed():
            return any(r["pool"]["failures"] or r["error"] for r in self.daemon.recipes(name))
        bed.until(failed, f"{command} to fail: {self.daemon.recipes(name)}")
        without = self.run_warm(WORDS, name=name)
        self.assertEqual(without.leased, 0)
        self.assertEqual(without.shape(), self.plain.shape(), without.errors)
        bed.ctl("clear")
        for recipe in self.daemon.recipes(name):
            self.daemon.forget(recipe)

    def check_all(self, commands, errors):
        self.plain = self.run_plain(WORDS)
        self.assertEqual((self.plain.status, self.plain.failures), (0, []), self.plain.errors)
        for command in commands:
            for error in errors:
                with self.subTest(f"{command}: {errno.errorcode[error]}"):
                    self.check(command, error)
        self.await_only_leases()

    def test_commands(self):
        self.check_all(COMMANDS, ERRORS)

    def test_firmware(self):
        self.check_all(FIRMWARE, [errno.EIO])

    def test_once(self):
        """After one failure, the daemon makes leases again soon."""
        bed.ctl("fail", "create_qp", errno.ENOMEM, 1, 1, self.daemon.pid)
        self.learn(WORDS)
        warm = self.run_leased(WORDS)
        self.assertEqual((warm.marks["ready"], warm.failures), ({}, []))


class InTheProgram(Faults):
    def run_failing(self, words, learned, command, nth=1, times=1):
        """Runs it with a lease of @learned; from the first "at" on, its commands of that name fail."""
        self.learn(learned)
        for _ in cases.attempts():
            self.daemon.await_ready(self.name)
            program = self.start(words, True)
            program.reach()
            bed.ctl("fail", command, errno.ENOMEM, nth, times, program.pid)
            result = program.finish()
            bed.ctl("clear")
            self.assertEqual(result.status, 0, result.errors)
            if result.leased:
                break
        self.assertEqual(result.leased, 1)
        self.await_only_leases()
        return result

    def test_what_is_adopted_cannot_fail(self):
        words = f"open at:opened {STEPS.removeprefix('open')}"
        warm = self.run_failing(words, STEPS, "create_qp", times=FOR_EVER)
        self.assertEqual(warm.failures, [])

    def test_after_the_lease(self):
        words = "open pd cq qp:rc move:init at:ready move:rtr move:rtr,rts traffic destroy:qps destroy:cqs"
        warm = self.run_failing(words, "open pd cq qp:rc move:init", "modify_qp")
        self.assertEqual(warm.failures, ["move:rtr failed: ENOMEM"])

    def test_in_place_of_the_lease(self):
        words = "open pd at:pd cq:depth=300 cq:depth=300 qp:rc move:init,rtr,rts traffic destroy:qps destroy:cqs"
        warm = self.run_failing(words, "open pd cq qp:rc move:init", "create_cq")
        self.assertEqual(warm.failures, ["cq:depth=300 failed: ENOMEM"])

    def test_destroying_a_rival(self):
        """If an unadopted object can't be destroyed, the program's command fails: two objects never share memory."""
        words = ("open channel pd at:pd cq:channel,vector=1 cq:depth=300 qp:rc move:init,rtr,rts traffic destroy:qps"
                 " destroy:cqs")
        warm = self.run_failing(words, "open channel pd cq:channel,vector=0", "destroy_cq")
        self.assertEqual(len(warm.failures), 1, warm.lines)
        self.assertIn("cq:channel,vector=1 failed", warm.failures[0])

    def test_moving_back(self):
        """If a queue pair can't be rolled back, the program's command fails."""
        words = "open pd cq qp:ud at:made move:init,qkey=5 destroy:qps destroy:cqs"
        warm = self.run_failing(words, "open pd cq qp:ud move:init,rtr,rts", "modify_qp")
        self.assertEqual(len(warm.failures), 1, warm.lines)
        self.assertIn("move:init,qkey=5 failed", warm.failures[0])

    def test_remaking_a_target(self):
        words = "open pd cq srq qp:dct,srq at:made move:init,access=0 destroy:qps destroy:srq destroy:cqs destroy:pd"
        warm = self.run_failing(words, "open pd cq srq qp:dct,srq move:init,rtr", "create_qp")
        self.assertTrue(warm.failures, warm.lines)
        self.assertTrue(all(f.startswith(("move:", "destroy:qps")) for f in warm.failures), warm.failures)


class Killed(Faults):
    def restart(self):
        self.daemon.stop(signal.SIGKILL)
        bed.until(lambda: bed.ctl("objects")["ufiles"] == self.out, "the leases to end that nobody has")
        self.daemon.start()

    def setUp(self):
        super().setUp()
        self.out = 0

    def test_with_leases_out(self):
        """Programs own their leases, which go on working."""
        self.learn(WORDS)
        for _ in cases.attempts():
            self.daemon.await_ready(self.name)
            program = self.start(WORDS, True)
            self.assertEqual(program.reach("ready"), {})
            self.out = 1
            self.restart()
            result = program.finish()
            self.out = 0
            if result.leased:
                break
        self.assertEqual((result.status, result.failures, result.leased), (0, [], 1), result.errors)
        self.await_only_leases()

    def test_while_building(self):
        """The daemon is killed at some moment: nothing is left, and the next daemon goes on."""
        plain = self.run_plain(WORDS)
        self.learn(WORDS)
        bed.until(lambda: list((self.folder / "state").rglob("*.json")), "the recipe to be saved")
        for microseconds in range(0, 10000, 1000):
            program = self.start(WORDS, True)
            program.reach("ready")
            result = program.finish()
            time.sleep(microseconds / 1e6)  # chooses the moment; does not wait for anything
            self.assertEqual(result.shape(), plain.shape(), result.errors)
            self.restart()
        self.daemon.await_ready(self.name)
        self.await_only_leases()


class Many(Faults):
    """A thousand leases, many at a time."""

    daemon_options = ("--max-leases-per-recipe", "64")
    wanted = 128 if bed.SANITIZED else 1000

    def descriptors(self):
        """Descriptors of the daemon, without those of pooled leases."""
        def of_its_own():
            before = self.daemon.status()["use"]["descriptors"]
            n = len(os.listdir(f"/proc/{self.daemon.pid}/fd")) - before
            return n + 1 if self.daemon.status()["use"]["descriptors"] == before else 0
        return bed.until(of_its_own, "a quiet moment") - 1

    def memory(self):
        """Resident memory of the daemon, in KiB."""
        status = (bed.pathlib.Path("/proc") / str(self.daemon.pid) / "status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0])

    def run_together(self, expected):
        env = {**bed.CLEAN, "WARMVERBS_SOCKET": str(self.daemon.socket), "WARMVERBS_NAME": self.name,
               "ASAN_OPTIONS": "detect_leaks=0",
               "LD_PRELOAD": " ".join([*bed.runtimes(bed.PRELOAD), bed.PRELOAD, bed.STANDIN])}
        running = [subprocess.Popen([bed.WORDS, *SMALL.split()], env=env, stdout=subprocess.PIPE, text=True)
                   for _ in range(AT_ONCE)]
        for process in running:
            output = process.communicate(timeout=bed.LIMIT_S)[0]
            lines = [line for line in output.splitlines() if not line.startswith("#")]
            self.assertEqual((process.returncode, lines), (0, expected))

    def hits(self):
        return sum(r["counters"]["hits"] for r in self.daemon.recipes(self.name))

    def test_thousand(self):
        expected = self.run_plain(SMALL).lines
        self.learn(SMALL)
        self.run_together(expected)
        self.daemon.await_ready(self.name)
        self.await_only_leases()
        descriptors, memory = self.descriptors(), self.memory()
        start, spent = time.monotonic(), 0.0
        while self.hits() < self.wanted:
            self.daemon.await_ready(self.name)
            begin = time.monotonic()
            self.run_together(expected)
            spent += time.monotonic() - begin
        hits = self.hits()
        print(f"{hits} leases taken and given back, {AT_ONCE} at a time: {hits / (time.monotonic() - start):.0f} per"
              f" second, {hits / spent:.0f} without the wait for the pool", flush=True)
        self.daemon.await_ready(self.name)
        self.await_only_leases()
        # Since then, each thread of the daemon may have asked the stand-in for something, by a connection of its own.
        # The daemon closes the last ones to programs a little later; those of the questions may count or not.
        most = descriptors + 2 + len(os.listdir(f"/proc/{self.daemon.pid}/task"))
        bed.until(lambda: self.descriptors() <= most, f"at most {most} descriptors")
        if not bed.SANITIZED:  # sanitizers keep freed memory
            self.assertLess(self.memory(), memory + 4096)


if __name__ == "__main__":
    bed.main()
