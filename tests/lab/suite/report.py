# SPDX-License-Identifier: BSD-2-Clause
"""Runs cases one after the other and prints the result of each."""

import fnmatch
import time
import traceback
from dataclasses import dataclass
from typing import Callable

from support.cases import judge_attempts


WORDS = {"passed": "ok", "failed": "FAIL", "skipped": "skip"}


class Skip(Exception):
    """This case can't run here; the text is the reason."""


class Failure(Exception):
    """A check of a case has failed."""


class Again(Exception):
    """What happened is nobody's fault here, and the text says what; the case runs once more, from its beginning."""


@dataclass(frozen=True)
class Case:
    topic: str
    name: str
    run: Callable  # called with a lab.Lab, or a nodes.Nodes
    nodes: int = 1

    @property
    def title(self):
        return f"{self.topic}: {self.name}"


def require(condition, text):
    if not condition:
        raise Failure(text)


def require_equal(actual, expected, what):
    if actual != expected:
        raise Failure(f"{what}: expected {expected!r}, got {actual!r}")


def chosen(cases, patterns, excepted=()):
    """The cases that are like one of the patterns, or all if there are none, but those like an excepted one."""
    return [case for case in cases
            if (not patterns or any(_is_like(case, pattern) for pattern in patterns))
            and not any(_is_like(case, pattern) for pattern in excepted)]


def _is_like(case, pattern):
    return pattern in case.title or fnmatch.fnmatch(case.title, pattern)


def run_all(cases, make_lab):
    """Runs the cases; returns the exit code."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in cases:
        counts[_run_one(case, make_lab)] += 1
    for outcome, why in zip(("failed", "skipped"), judge_attempts()):
        if why:
            print(f"{WORDS[outcome]:4} attempts: {why}", flush=True)
            counts[outcome] += 1
    print(", ".join(f"{n} {outcome}" for outcome, n in counts.items()), flush=True)
    return 1 if counts["failed"] or not counts["passed"] else 0


def _run_one(case, make_lab):
    start = time.monotonic()
    for more in (True, False):
        lab = make_lab(case)
        outcome, reason = _attempt(case, lab)
        if outcome != "again":
            break
        outcome = "failed"
        if more:
            print(f"once more, since {reason}", flush=True)
            lab.remove()
    seconds = time.monotonic() - start
    print(f"{WORDS[outcome]:4} {case.title} ({seconds:.1f} s){': ' + reason if reason else ''}", flush=True)
    if outcome == "failed":
        print("\n".join("     | " + line for line in lab.transcript()), flush=True)
    lab.remove()
    return outcome


def _attempt(case, lab):
    """Runs a case and checks what it leaves behind, even if it failed."""
    failures = []
    again = None
    for step in (lambda: case.run(lab), lab.end, lab.check_nothing_left):
        try:
            step()
        except Skip as skip:
            return "skipped", str(skip)
        except Again as reason:
            again = str(reason)
        except Failure as failure:
            failures.append(str(failure))
        except Exception:  # pylint: disable=broad-except  # One case must not end the others.
            failures.append(traceback.format_exc())
    if failures:
        return "failed", "; ".join(failures)
    return ("again", again) if again else ("passed", "")
