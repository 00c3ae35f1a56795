# SPDX-License-Identifier: BSD-2-Clause
"""The command line of tools/bench."""

import argparse
import json
import os
import subprocess

import products
import session
from lab.report import LabError

from . import plot, ratchet, run
from .catalogue import BENCHES
from .say import say

DESCRIPTION = """\
Measures what warmverbs gains and costs, in three modes: plain (without warmverbs), preload (the library without a
lease, which saves only the loading of providers that the node does not need) and warm (with a lease). Each run measures
all modes in turn; figures are medians. In services, and in rows named _service, warm is: connected by a service
(warmverbs-service(3)).

Without NAME, lists the benchmarks. `tools/bench plot RESULT...` draws results of --json to docs/plots, for the
benchmarks that have a plot.

`tools/bench check` takes phases with few runs and fails where a figure of the side with warmverbs is more than 3 % (and
0.5 us) above the one in bench/recorded. Where the lab's kernel, rdma-core, libc, QEMU, the compiler or its options are
not those of the record, the check is skipped. `tools/bench record` takes phases and records its figures.
"""

EPILOG = """\
beds:
  soft-RoCE  in the lab's virtual machine, which counts instructions: one takes 1 ns. Times are repeatable, whatever
             else the machine does, and ratios are ratios of work done; they are not times of hardware.
             (Rows "wall clock": in that machine with two CPUs and real time, which scatters.)
  native     on this machine itself, which nothing else may use meanwhile
  stand-in   on this machine, which nothing else may use meanwhile: the real mlx5 provider on a modelled device. The
             times of its commands are published figures or assumptions; see tests/standin/models and
             docs/benchmarks.md. services has two nodes there, which only root may make.
  the device that is here
             Only `verbs` measures there. It needs a C compiler and libibverbs, no other part of warmverbs, and no
             right but that to use the device.

Progress goes to stderr. Exit status: 0; 1 if something could not be built, run or measured, if check found a figure
above the record, or if siege found an attack that takes leases from others; 77 if check was skipped, or if the machine
was too busy for siege to tell.
"""

PLOT = "plot"
VERBS = "verbs"
ERRORS = (
    products.BuildError,
    session.SessionError,
    ratchet.UncommittedError,
    LabError,
    subprocess.CalledProcessError,
    OSError,
)
RATCHET = {"record": ratchet.record, "check": ratchet.check}


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/bench",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [*BENCHES, PLOT, *RATCHET]
    parser.add_argument("name", nargs="?", choices=names, metavar="NAME", help="the benchmark to run")
    parser.add_argument("results", nargs="*", metavar="RESULT", help="files to plot")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--runs", type=positive, metavar="N", help="runs in each mode (default: the benchmark's own)")
    parser.add_argument("--device", metavar="NAME", help="what verbs measures (default: the first device)")
    options = parser.parse_args(arguments)
    if options.json and options.name not in BENCHES:
        parser.error("--json needs the NAME of a benchmark")
    if options.device and options.name != VERBS:
        parser.error("only verbs takes a --device")
    if bool(options.results) != (options.name == PLOT):
        parser.error("plot, and nothing else, takes RESULTs")
    return options


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def listing():
    width = max(map(len, BENCHES))
    return "\n".join(f"{bench.name:<{width}}  {bench.summary} ({bench.bed})" for bench in BENCHES.values())


def main(arguments=None):
    options = parse(arguments)
    if not options.name:
        print(listing())
        return 0
    try:
        if options.name == PLOT:
            products.install(say)
            plot.plot(options.results)
            return 0
        if options.name in RATCHET:
            return RATCHET[options.name](options.runs)
        bench = BENCHES[options.name]
        if options.device:
            os.environ["LAB_DEVICE"] = options.device
        result = run.measure(bench, bench.build(), options.runs or bench.runs)
    except ERRORS as error:
        say(error)
        return 1
    print(json.dumps(result, indent=2) if options.json else bench.show(result))
    return bench.verdict(result["rows"])
