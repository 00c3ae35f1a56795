# SPDX-License-Identifier: BSD-2-Clause
"""The main of every file of cases, and attempts: programs that are started again if the daemon was too late for them.

On a busy machine the daemon may answer later than a program waits (50 ms), which is no fault; on a quiet one it is. So
attempts are counted, and at most a tenth of them may have been in vain; and a loop has more of them while the machine is
busy.
"""

import collections
import os
import sys
import time
import unittest

SKIPPED = 77  # the exit status of a test that cannot run here
PATIENCE = 5
MORE_IF_BUSY = 20  # attempts, for those that were in vain on a busy machine
MOST_IN_VAIN = 0.1  # of all attempts of a file
BUSY = 0.2  # the part of the time in which some process waits for a processor
PRESSURE = "/proc/pressure/cpu"


class Busyness:
    """Whether the machine is busy while something lasts."""

    def __init__(self):
        self._begin, self._waited = time.monotonic(), self._read()

    @staticmethod
    def _read():
        """For how many seconds processes have waited for a processor; None: this kernel does not tell."""
        try:
            with open(PRESSURE, encoding="ascii") as file:
                return int(file.readline().rpartition("total=")[2]) / 1e6
        except OSError:
            return None

    def was_busy(self):
        if self._waited is None:
            return os.getloadavg()[0] > os.cpu_count()
        return self._read() - self._waited > BUSY * (time.monotonic() - self._begin)


class Attempts:
    """Of a file."""

    def __init__(self):
        self.n = 0
        self.in_vain = collections.Counter()  # on a quiet machine, by the function with the loop
        self.busy = 0  # in vain on a busy machine

    def loop(self, most, free, name):
        n = n_quiet = 0
        while n_quiet < most and n < most + MORE_IF_BUSY:
            meanwhile = Busyness()
            try:
                yield
            except GeneratorExit:
                self.n += 1
                raise
            was_busy = meanwhile.was_busy()
            n += 1
            n_quiet += not was_busy
            if n > free:
                self.count(was_busy, name)

    def count(self, was_busy, name):
        """One in vain."""
        self.n += 1
        if was_busy:
            self.busy += 1
        else:
            self.in_vain[name] += 1

    def are_too_many(self, in_vain):
        return in_vain > max(1, MOST_IN_VAIN * self.n)

    def check(self):
        """What is wrong, and what cannot be told; else two None."""
        in_vain = self.in_vain.total()
        if self.are_too_many(in_vain):
            where = ", ".join(f"{n} in {name}()" for name, n in self.in_vain.items())
            return f"{in_vain} of {self.n} attempts were in vain on a quiet machine: {where}", None
        if self.are_too_many(in_vain + self.busy):
            return None, (f"{in_vain + self.busy} of {self.n} attempts were in vain, and the machine is too busy to "
                          "tell why")
        return None, None


_attempts = Attempts()


def attempts(most=PATIENCE, free=0):
    """For a loop that is left once an attempt has done what it was made for; another turn means that it was in vain.
    The first @free ones may be: those from which the daemon learns. At most @most, not counting the next
    MORE_IF_BUSY in vain on a busy machine."""
    return _attempts.loop(most, free, sys._getframe(1).f_code.co_name)


def judge_attempts():
    """At the end of a file: prints how many there were. What is wrong, and what cannot be told; else two None."""
    if _attempts.n:
        print(f"attempts: {_attempts.n}, in vain: {_attempts.in_vain.total() + _attempts.busy}", flush=True)
    return _attempts.check()


class Result(unittest.TextTestResult):
    """Counts what has passed: cases, and parts of cases."""

    n_passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.n_passed += 1

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        self.n_passed += err is None


class Runner(unittest.TextTestRunner):
    resultclass = Result


def main(why_not=None, argv=None):
    """Runs the cases of a file and ends: with 77 if none could run, or with @why_not, why none can. Its last lines say
    how much was skipped, and why; tools/test reads them."""
    if why_not:
        print(f"skipped: all: {why_not}")
        sys.exit(SKIPPED)
    result = unittest.main(argv=argv, verbosity=2, exit=False, testRunner=Runner).result
    wrong, untold = judge_attempts()
    skipped = [reason for _, reason in result.skipped] + ([untold] if untold else [])
    for reason, n in collections.Counter(skipped).items():
        print(f"skipped: {n}: {reason}")
    if wrong:
        print(f"FAIL: {wrong}")
    if wrong or not result.wasSuccessful() or not (result.n_passed or skipped):
        sys.exit(1)
    sys.exit(0 if result.n_passed else SKIPPED)
