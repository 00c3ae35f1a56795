# SPDX-License-Identifier: BSD-2-Clause
"""The command line of tools/soak."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import products

DESCRIPTION = """\
Runs programs on one daemon for some time and lets everything happen to them at random: forks, several users, SIGKILL
at any moment, restarts and stops of the daemon, removal of the device, forgotten recipes, pool requests, malformed
clients. Then nothing may be left (descriptors, kernel objects, memory, files, processes, threads), and each program
that was not killed must have printed and returned what it does without warmverbs.
"""

EPILOG = """\
beds:
  standin  the stand-in HCA on this machine; natively
  rxe      soft-RoCE in the lab's virtual machine

Actions come from the seed alone: the same seed gives the same actions, each with its number. When something is wrong,
soak names the seed and the action and the command that repeats the actions up to this one. How programs and daemon
meet in time is not repeated.

Programs that run while the device is removed may fail. As root, programs run as several users; without root, as one.

The summary and the last line "soak: N leases, ..." go to stdout, progress goes to stderr. Exit status: 0 if nothing
was left and nothing was wrong, else 1; 2 for wrong usage.
"""

INSIDE = pathlib.Path(__file__).parent / "inside.py"
SETTLE_SECONDS = 1200  # for the guest: to start, to learn the programs and to come to rest


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/soak",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=positive(float), metavar="N", help="how long (default: 1)")
    parser.add_argument("--actions", type=positive(int), metavar="N", help="end after action N instead")
    parser.add_argument("--seed", type=positive(int), metavar="S", help="of the actions (default: the time)")
    parser.add_argument("--bed", choices=("standin", "rxe"), default="standin", help="(default: %(default)s)")
    parser.add_argument("--build", metavar="DIR", help="use this build folder as it is (default: builds build-normal)")
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="where logs go, of the actions and of the daemon (default: kept only after a failure)",
    )
    options = parser.parse_args(arguments)
    if options.minutes and options.actions:
        parser.error("--minutes and --actions exclude each other")
    return options


def positive(kind):
    def convert(text):
        number = kind(text)
        if number <= 0:
            raise argparse.ArgumentTypeError("must be more than 0")
        return number

    return convert


def say(message):
    print(f"soak: {message}", file=sys.stderr, flush=True)


def built(options):
    if options.build:
        return products.Products(pathlib.Path(options.build).resolve())
    return products.build("build-normal", say, "--werror", "--buildtype=debugoptimized")


def place(options, build, out):
    """The words before the command that runs on the bed."""
    if options.bed == "standin":
        return [products.ROOT / "tests" / "standin" / "run", "--build", build.folder, "--"]
    seconds = int((options.minutes or 60) * 60) + SETTLE_SECONDS
    return [products.ROOT / "tools" / "lab", "run", "--quiet", "--timeout", str(seconds), "--out", out, "--"]


def main(arguments=None):
    options = parse(arguments)
    seed = options.seed or int(time.time())
    end = f"actions={options.actions}" if options.actions else f"minutes={options.minutes or 1}"
    try:
        build = built(options)
    except (products.BuildError, OSError) as error:
        say(error)
        return 1
    out = pathlib.Path(options.out or tempfile.mkdtemp(prefix="warmverbs-soak-")).resolve()
    out.mkdir(parents=True, exist_ok=True)
    inside = [sys.executable, INSIDE, options.bed, build.folder, str(seed), end, out]
    try:
        status = subprocess.run([*place(options, build, out), *inside], check=False).returncode
    except KeyboardInterrupt:
        status = 130
    if status or options.out:
        say(f"logs are in {out}")
    else:
        shutil.rmtree(out)
    return status
