# SPDX-License-Identifier: BSD-2-Clause
"""Zygotes on the stand-in HCA: parents that keep sets of objects for their children."""

import pathlib
import shutil
import tempfile
import unittest

from support import bed, trace, zygote
from support.zygote import END, INIT

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"
ZYGOTE = str(bed.BUILD / "tests/programs/zygote")
LOADED = str(bed.BUILD / "tests/programs/zygote-loaded")  # the same, but it loads libibverbs itself
SETS = 3
WORK = "move:rtr,rts,all traffic"
PLAIN = f"{INIT} {WORK} {END}"


class Case(unittest.TestCase):
    """Without a daemon, unless a case starts one."""

    program = ZYGOTE

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prefork."))
        self.addCleanup(shutil.rmtree, self.folder)
        self.daemon = None
        self._started = []

    def start_daemon(self, *options):
        self.daemon = bed.Daemon(self.folder, options)
        self.addCleanup(self.daemon.stop)

    def leases(self):
        return self.daemon.status()["use"]["leases"] if self.daemon else 0

    def warm(self, sets=SETS):
        """The environment of a program that keeps @sets sets for its children."""
        return {"WARMVERBS_PREFORK": str(sets), "WARMVERBS_SOCKET": str(self.folder / "socket"),
                "WARMVERBS_TRACE": str(self.folder / "trace")}

    def start(self, warm=True, sets=SETS, prefix=(), **env):
        env = bed.environment(self.program, warm, {**(self.warm(sets) if warm else {}), **env})
        started = zygote.First([*prefix, self.program], env, self.folder / f"errors.{len(self._started)}")
        self._started.append(started)
        self.addCleanup(started.abort)
        return started

    def opens(self, child, how):
        """How many opens of a device in that process had this result."""
        events = trace.read(self.folder / "trace")
        return sum(event.pid == child.pid for event in trace.opens(events, how))

    def ready(self, child):
        return self.opens(child, trace.PREFORKED)

    def sets_there(self, sets, more):
        """Whether the device has this many contexts (@more: or more) besides the daemon's, and is idle."""
        def look():
            n = bed.ctl("objects")["contexts"] - self.leases()
            return n == sets or (more and n > sets)
        if not look():
            return False
        return bed.is_at_rest(*self.running()) and look()

    def running(self):
        return [started.pid for started in self._started if started.process.poll() is None]

    def held(self, started):
        """Descriptors and threads: that of the library is there as long as there are sets."""
        return started.descriptors(), started.threads()

    def await_quiet(self):
        """Waits until the device gets no more commands."""
        bed.until(lambda: bed.is_at_rest(*self.running()), "quiet")

    def await_sets(self, sets, more=False):
        """Waits for this many sets; @more: or more, if children may have taught other things as well."""
        try:
            bed.until(lambda: self.sets_there(sets, more), f"{sets} sets")
        except AssertionError as error:
            raise AssertionError(f"{error}; {self.leases()} leases; {bed.ctl('objects')}") from None

    def await_made(self, started, sets):
        """Waits until the zygote has made this many sets in all, each of which ends with the move of a queue pair."""
        bed.until(lambda: bed.counts(started.pid).get("RST2INIT_QP", 0) >= sets, f"{sets} sets made")

    def taught(self, words, sets=SETS, opens=1, **env):
        """A zygote whose first child has taught what children do, and which has made sets for the next ones."""
        started = self.start(sets=sets, **env)
        self.assertEqual(started.run(words).status, 0, started.errors())
        started.run("exit")  # a fork makes the zygote use what it was taught
        self.await_sets(sets * opens)
        return started

    def assert_ready(self, child, opens=1):
        self.assertEqual(self.ready(child), opens, child.output)

    def assert_took(self, child, opens):
        """At least this many, for a child that may open the device more often."""
        self.assertGreaterEqual(self.ready(child), opens, child.output)

    def assert_silent(self, child):
        self.assertEqual(child.remarks("call"), ["-1"], child.output)

    def plain(self, *all_words):
        """What children of a zygote without warmverbs do."""
        started = self.start(warm=False)
        shapes = [started.run(words).shape for words in all_words]
        self.assertEqual(started.end(), 0)
        return shapes

    def finish(self, started):
        """Ends the zygote and checks that it ended without an error and left nothing."""
        self.assertEqual(started.end(), 0, started.errors())
        self.assertEqual(started.errors(), "")
        self.await_nothing()

    def await_nothing(self):
        def nothing():
            objects = bed.ctl("objects")
            return objects["ufiles"] == self.leases() and not objects["kept_by_mappings"]
        bed.until(nothing, "no objects but of leases")


def main(tsan=False):
    """With @tsan, runs with ThreadSanitizer too. Most tests can't: it makes system calls of its own, forks slowly, and
    ends children that start a thread if their parent had one."""
    bed.main(None if tsan else "ThreadSanitizer does not support threads in children of processes with threads")
