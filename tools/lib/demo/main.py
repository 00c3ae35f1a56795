# SPDX-License-Identifier: BSD-2-Clause
"""The command line of tools/demo."""

import argparse
import subprocess
import sys

import products

DESCRIPTION = """\
Shows what warmverbs does for unmodified programs: installs what is missing, builds warmverbs in "build", brings up a
soft-RoCE device, starts warmverbsd, and runs ibv_rc_pingpong, ibv_srq_pingpong, ib_write_lat, ib_send_bw and rping
there with plain verbs and with warmverbs in turn.

Needs a machine with Debian 12, 13 or sid and, the first time, a network. Asks nothing, and takes a few minutes.
"""

EPILOG = """\
Exit status: 0 if every program succeeded both ways and was served from a lease, else 1 (125: the lab failed).
"""

INSIDE = products.ROOT / "tools" / "lib" / "demo" / "inside.py"


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/demo",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--native",
        action="store_true",
        help="use this machine's own RDMA device, or add a soft-RoCE one (as root), instead of a virtual machine",
    )
    return parser.parse_args(arguments)


def say(message):
    print(f"demo: {message}", file=sys.stderr, flush=True)


def lab_command(options):
    place = ["--native"] if options.native else ["--count-instructions"]
    return [products.ROOT / "tools" / "lab", "run", *place]


def main(arguments=None):
    options = parse(arguments)
    try:
        built = products.build("build", say)
    except (products.BuildError, OSError) as error:
        say(error)
        return 1
    say("starting the lab")
    return subprocess.run([*lab_command(options), "--", sys.executable, INSIDE, built.folder], check=False).returncode
