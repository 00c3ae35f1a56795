# SPDX-License-Identifier: BSD-2-Clause
"""The command line of tools/check-source."""

import argparse
import pathlib
import signal
import sys

from . import checks, show
from .tree import Tree

ROOT = pathlib.Path(__file__).resolve().parents[3]

DESCRIPTION = "Checks the source tree for what no compiler looks at. Without CHECK, all checks are made."

VIEWS = {"graph": show.text, "dot": show.dot, "sizes": show.sizes}


def epilog():
    rows = [f"  {name:10} {check.__doc__}" for name, check in checks.ALL.items()]
    return "\n".join(["checks:", *rows, "", "exit status: 0 nothing was found, 1 something was, 2 wrong usage"])


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/check-source",
        description=DESCRIPTION,
        epilog=epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    view = parser.add_mutually_exclusive_group()
    view.add_argument("--graph", action="store_true", help="show which folder of src includes which, in layers")
    view.add_argument("--dot", action="store_true", help="the same for Graphviz")
    view.add_argument("--sizes", action="store_true", help="show median, 95th percentile and largest size")
    parser.add_argument("--root", metavar="DIR", type=pathlib.Path, default=ROOT, help="another tree than this one")
    parser.add_argument("checks", metavar="CHECK", nargs="*", help="one of the checks below")
    options = parser.parse_args(arguments)
    for name in options.checks:
        if name not in checks.ALL:
            parser.error(f"no check is called {name}")
    return options


def run(tree, wanted):
    """Returns how many checks found something."""
    failed = 0
    for name in wanted or checks.ALL:
        found = checks.ALL[name](tree)
        print(f"{name}: {'not ' if found else ''}ok")
        for line in found:
            print(f"    {line}")
        failed += bool(found)
    return failed


def main(arguments=None):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    options = parse(arguments)
    tree = Tree(options.root)
    for name, view in VIEWS.items():
        if getattr(options, name):
            print(view(tree))
            return 0
    return 1 if run(tree, options.checks) else 0


if __name__ == "__main__":
    sys.exit(main())
