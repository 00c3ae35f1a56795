"""Zygotes on the stand-in HCA, whose children are to find their objects ready."""

import pathlib
import shutil
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "leases"), str(HERE.parents[1] / "lab")]
import bed  # noqa: E402  # pylint: disable=wrong-import-position
from suite import trace, zygote  # noqa: E402  # pylint: disable=wrong-import-position

ZYGOTE = str(bed.BUILD / "tests/standin/ready/zygote")
SETS = 3
INIT = "open pd cq qp:rc move:init"
WORK = "move:rtr,rts,all traffic"
END = "destroy:qps destroy:cqs destroy:pd close"
END_SRQ = END.replace("destroy:cqs", "destroy:srq destroy:cqs")
PLAIN = f"{INIT} {WORK} {END}"


def environment(program, warm, extra=None, lib=bed.PRELOAD):
    libs = [*([lib] if warm else []), bed.STANDIN]
    # Programs may end without giving anything back; that is no leak.
    return {**bed.CLEAN, "LD_PRELOAD": " ".join([*bed.runtimes(*libs, program), *libs]),
            "ASAN_OPTIONS": "detect_leaks=0", **(extra or {})}


class Case(unittest.TestCase):
    """Without a daemon, unless a case starts one."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ready."))
        self.addCleanup(shutil.rmtree, self.folder)
        self.daemon = None
        self._zygotes = 0

    def start_daemon(self, *options):
        self.daemon = bed.Daemon(self.folder, options)
        self.addCleanup(self.daemon.stop)

    def leases(self):
        return self.daemon.status()["use"]["leases"] if self.daemon else 0

    def warm(self, sets=SETS):
        """The environment of a program whose children are to find @sets sets."""
        return {"WARMVERBS_PREFORK": str(sets), "WARMVERBS_SOCKET": str(self.folder / "socket"),
                "WARMVERBS_TRACE": str(self.folder / "trace")}

    def start(self, warm=True, sets=SETS, prefix=(), **env):
        self._zygotes += 1
        env = environment(ZYGOTE, warm, {**(self.warm(sets) if warm else {}), **env})
        started = zygote.First([*prefix, ZYGOTE], env, self.folder / f"errors.{self._zygotes}")
        self.addCleanup(started.abort)
        return started

    def opens(self, child, how):
        """How many opens of a device of that process went that way."""
        events = trace.read(self.folder / "trace")
        return sum(event.pid == child.pid for event in trace.opens(events, how))

    def ready(self, child):
        return self.opens(child, trace.READY)

    def sets_there(self, sets, more):
        """Whether the device has this many contexts besides the daemon's, or more, and they do not change."""
        def look():
            n = bed.ctl("objects")["contexts"] - self.leases()
            return n == sets or (more and n > sets)
        if not look():
            return False
        before = bed.ctl("counts")
        time.sleep(0.005)
        return bed.ctl("counts") == before and look()

    def await_quiet(self):
        """Waits until the device is given no more commands."""
        def quiet():
            before = bed.ctl("counts")
            time.sleep(0.02)
            return bed.ctl("counts") == before
        bed.until(quiet, "quiet")

    def await_sets(self, sets, more=False):
        """Waits for as many sets as are wanted; @more: children may have taught something else as well."""
        try:
            bed.until(lambda: self.sets_there(sets, more), f"{sets} sets")
        except AssertionError as error:
            raise AssertionError(f"{error}; {self.leases()} leases; {bed.ctl('objects')}") from None

    def taught(self, words, sets=SETS, opens=1, **env):
        """A zygote whose first child has shown what children do, with sets ready for the next ones."""
        started = self.start(sets=sets, **env)
        self.assertEqual(started.run(words).status, 0, started.errors())
        started.run("exit")  # at a fork the zygote sees what it has been taught
        self.await_sets(sets * opens)
        return started

    def assert_ready(self, child, opens=1):
        self.assertEqual(self.ready(child), opens, child.output)

    def assert_took(self, child, opens):
        """The same, of a child that may open the device more often, for which there may be sets, too."""
        self.assertGreaterEqual(self.ready(child), opens, child.output)

    def assert_silent(self, child):
        self.assertEqual(child.remarks("call"), ["-1"], child.output)

    def plain(self, *all_words):
        """What children do that fork from a zygote without warmverbs."""
        started = self.start(warm=False)
        shapes = [started.run(words).shape for words in all_words]
        self.assertEqual(started.end(), 0)
        return shapes

    def finish(self, started):
        """All went well, and nothing is left."""
        self.assertEqual(started.end(), 0, started.errors())
        self.assertEqual(started.errors(), "")
        self.await_nothing()

    def await_nothing(self):
        def nothing():
            objects = bed.ctl("objects")
            return objects["ufiles"] == self.leases() and not objects["kept_by_mappings"]
        bed.until(nothing, "no objects but of leases")


def main(tsan=False):
    """With @tsan also where ThreadSanitizer is: it makes system calls of its own, is slow at fork(), and ends children
    that start a thread if their parent had one."""
    if not tsan and any("tsan" in runtime for runtime in bed.runtimes(bed.PRELOAD)):
        print("ThreadSanitizer does not support what is tried here: threads in children of processes with threads")
        sys.exit(77)
    unittest.main(verbosity=2)
