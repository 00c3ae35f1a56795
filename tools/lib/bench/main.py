"""The command line of tools/bench."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import products
import session

from . import plot, results
from .catalogue import BENCHES
from .places import HERE
from .say import say

DESCRIPTION = """\
Measures what warmverbs gains and costs, in three modes: plain (without warmverbs), preload (the library without a
lease, which saves only the loading of providers that the node does not need) and warm (with a lease). Each run measures
all modes in turn; figures are medians.

Without NAME, lists the benchmarks. `tools/bench plot RESULT...` draws results of --json to docs/plots, for the
benchmarks that have a plot.
"""

EPILOG = """\
beds:
  soft-RoCE  in the lab's virtual machine, which counts instructions: one takes 1 ns. Times are repeatable, whatever
             else the machine does, and ratios are ratios of work done; they are not times of hardware.
             (Rows "wall clock": in that machine with two CPUs and real time, which scatters.)
  native     on this machine itself, which nothing else may use meanwhile
  stand-in   on this machine, which nothing else may use meanwhile: the real mlx5 provider on a modelled device. The
             times of its commands are published figures or assumptions; see tests/standin/models and
             docs/benchmarks.md.

Progress goes to stderr. Exit status: 0, or 1 if something could not be built, run or measured.
"""

PLOT = "plot"
INSIDE = pathlib.Path(__file__).parent / "inside.py"


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/bench",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", choices=[*BENCHES, PLOT], metavar="NAME", help="the benchmark to run")
    parser.add_argument("results", nargs="*", metavar="RESULT", help="files to plot")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--runs", type=positive, metavar="N", help="runs in each mode (default: that of the benchmark)")
    options = parser.parse_args(arguments)
    if options.json and not options.name:
        parser.error("--json needs a NAME")
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


def measure(bench, runs):
    built = products.build("build-release", say, "--buildtype=release")
    rows = []
    for number, (place, function) in enumerate(bench.parts):
        rows += function(built, runs) if place is HERE else elsewhere(place, bench, number, built, runs)
    return {"bench": bench.name, "unit": bench.unit, "runs": runs, "bed": bench.bed, "rows": rows}


def elsewhere(place, bench, number, built, runs):
    with tempfile.TemporaryDirectory(prefix="warmverbs-bench-") as out:
        inside = [sys.executable, INSIDE, bench.name, str(number), built.folder, str(runs)]
        status = subprocess.run(
            [*place(built, out), *inside], env={**os.environ, "LAB_OUT": out}, stdout=sys.stderr, check=False
        ).returncode
        if status:
            raise session.SessionError(f"measuring failed ({status}), see above")
        return json.loads(pathlib.Path(out, "rows.json").read_text())


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
        bench = BENCHES[options.name]
        result = measure(bench, options.runs or bench.runs)
    except (products.BuildError, session.SessionError, subprocess.CalledProcessError, OSError) as error:
        say(error)
        return 1
    print(json.dumps(result, indent=2) if options.json else results.table(result))
    return 0
