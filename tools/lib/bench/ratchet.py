# SPDX-License-Identifier: BSD-2-Clause
"""Holds counted figures: `tools/bench record` writes those of `phases` down, `tools/bench check` fails where one rose.

Instructions repeat only in one environment, so its description is recorded with them."""

import json
import os
import statistics
import subprocess

from lab import image
from products import ROOT

from . import run
from .catalogue import BENCHES
from .say import say

BENCH = BENCHES["phases"]
RECORDED = ROOT / "bench" / "recorded" / f"{BENCH.name}.json"
# What the figures depend on in the tree. The record names the last commit that changed it.
MEASURED = ("src", "include", "bench", "meson.build", ":!bench/recorded")
# get_device_list, which waits for the daemon, moves by 2 % from boot to boot, and other rows by less. So a figure that
# is above must be above in two boots.
RUNS = 9
BOOTS = 2
# A record from one boot that was low leaves others little of the tolerance.
BOOTS_RECORDED = 5
# Pinning the program's memory is the kernel's work, with and without warmverbs, and scatters by 2 %.
NOT_HELD = ("reg_mr",)
TOLERANCE = 0.03
# 3 % of the smallest rows (2 us) are 60 instructions. 0.5 us are less than one page fault.
TOLERANCE_US = 0.5
BUILD_OPTIONS = ("buildtype", "b_lto", "b_sanitize", "c_args")

OK, ABOVE, SKIPPED = 0, 1, 77


class UncommittedError(Exception):
    """What would be measured is not what a commit says."""


def record(runs):
    changed = git("status", "--porcelain", "--", *MEASURED)
    if changed:
        raise UncommittedError(f"commit these first, so that the record can name a commit:\n{changed}")
    built = run.build()
    figures = middle([warm(run.measure(BENCH, built, runs or RUNS)) for _ in range(BOOTS_RECORDED)])
    found = {
        "bench": BENCH.name,
        "unit": BENCH.unit,
        "commit": git("log", "-1", "--format=%h", "--", *MEASURED),
        "environment": environment(built),
        "warm": {name: value for name, value in figures.items() if name not in NOT_HELD},
    }
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(json.dumps(found, indent=2) + "\n")
    say(f"recorded in {RECORDED.relative_to(ROOT)}")
    return OK


def check(runs):
    recorded = json.loads(RECORDED.read_text())
    built = run.build()
    other = differences(recorded["environment"], environment(built))
    if other:
        print("skipped: the recorded figures are those of another environment", *other, sep="\n  ")
        return SKIPPED
    runs = runs or RUNS
    found, rows = {}, []
    for _ in range(BOOTS):
        found = lower(found, warm(run.measure(BENCH, built, runs)))
        rows = compare(recorded["warm"], found)
        if not is_above(rows):
            break
    heading = f"{BENCH.name}: {BENCH.unit}, warm, medians of {runs}; recorded at {recorded['commit']}"
    print(heading, *table(rows), conclusion(rows), sep="\n")
    return ABOVE if is_above(rows) else OK


def environment(built):
    """All that changes what is counted, but the tree itself."""
    options = {each["name"]: each["value"] for each in tell("meson", "introspect", "--buildoptions", built.folder)}
    comment = output("readelf", "--string-dump=.comment", built.library)
    return {
        "kernel in the lab": image.chosen_version(),
        "rdma-core": output("dpkg-query", "--show", "--showformat=${Version}", "libibverbs1"),
        "libc": os.confstr("CS_GNU_LIBC_VERSION"),
        # Its -cpu max decides which instructions libc and kernel choose.
        "QEMU": output("qemu-system-x86_64", "--version").split()[3].rpartition(".")[0],
        "compiler": comment.splitlines()[1].partition("]")[2].strip(),
        "build options": {name: options[name] for name in BUILD_OPTIONS},
    }


def differences(recorded, found):
    return [f"{name}: {found[name]}, recorded: {recorded[name]}" for name in recorded if found[name] != recorded[name]]


def warm(result):
    return {each["name"]: each["warm"] for each in result["rows"]}


def middle(boots):
    return {name: statistics.median(each[name] for each in boots) for name in boots[0]}


def lower(before, now):
    return {name: min(value, before.get(name, value)) for name, value in now.items()}


def is_above(rows):
    return any(verdict == "above" for *_, verdict in rows)


def compare(recorded, found):
    """(name, recorded, found, verdict) of each row."""
    return [(name, value, found[name], judge(value, found[name])) for name, value in recorded.items()]


def judge(recorded, found):
    allowed = max(TOLERANCE * recorded, TOLERANCE_US)
    if found > recorded + allowed:
        return "above"
    return "below" if found < recorded - allowed else ""


def table(rows):
    heading = f"{'':16}{'recorded':>10}{'now':>10}{'change':>9}"
    lines = (f"{name:16}{old:10.2f}{new:10.2f}{new / old - 1:+9.1%}  {verdict}" for name, old, new, verdict in rows)
    return [heading, *map(str.rstrip, lines)]


def conclusion(rows):
    verdicts = [verdict for *_, verdict in rows]
    limit = f"more than {TOLERANCE:.0%} and {TOLERANCE_US} us"
    if "above" in verdicts:
        return f"rows {limit} above the record: {verdicts.count('above')}"
    if "below" in verdicts:
        return f"rows {limit} below the record: {verdicts.count('below')}; hold them there: tools/bench record"
    return f"no row is {limit} above the record"


def git(*words):
    return output("git", "-C", ROOT, *words)


def tell(*words):
    return json.loads(output(*words))


def output(*words):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
