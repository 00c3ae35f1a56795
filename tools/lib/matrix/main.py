# SPDX-License-Identifier: BSD-2-Clause
"""The command line of tools/matrix."""

import argparse
import concurrent.futures
import functools
import os
import signal
import sys
import time

from lab import report

from . import releases, root, suites, table

DEFAULT_MIRROR = "http://deb.debian.org/debian"
EXIT_SKIPPED = 77
EXIT_SIGNAL_BASE = 128
# What can go wrong with one release, and keeps no other from being tested.
EXPECTED = (root.Unavailable, root.Failed, report.LabError, OSError)

DESCRIPTION = """\
Builds and tests warmverbs on other releases of Debian, from any of them. For each release it makes a root folder with
the release's compiler, rdma-core and programs, builds there, and runs the tests of the normal build: those without an
RDMA device with the kernel of this machine, those on soft-RoCE in the lab, with the kernel of the release.

The root folders stay in the cache (about 1.3 GB each); the source tree is only read.
"""

EPILOG = """\
Needs root, and a network when a root folder is made or packages are missing in it; sid is as new as its root folder,
so run --clean before to have it of today. One test run of all releases takes about an hour on two processors.

Progress, and the output of what failed, go to stderr. To stdout go a line for each release, the rows of the table in
docs/compatibility.md, and a last line "N passed, N failed, N skipped". A release that cannot be had is skipped. Exit
status: 0 if nothing failed, 1 if something did, 2 for wrong usage, 77 if everything was skipped. With --prepare, what
is counted is releases.

examples:
  tools/matrix                   all releases but that of this machine
  tools/matrix --short           what tools/test runs
"""

start = time.monotonic()


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/matrix",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "releases",
        nargs="*",
        metavar="RELEASE",
        help=f"of {', '.join(releases.RELEASES)} (default: all but that of this machine)",
    )
    parser.add_argument("--short", action="store_true", help="only a choice of the tests, in about three minutes each")
    parser.add_argument("--prepare", action="store_true", help="make the root folders and build there; test nothing")
    parser.add_argument("--write", action="store_true", help="write the rows into docs/compatibility.md")
    parser.add_argument("--mirror", metavar="URL", default=DEFAULT_MIRROR, help="of Debian (default: %(default)s)")
    parser.add_argument("--clean", action="store_true", help="remove the root folders first; alone: do only that")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.releases if name not in releases.RELEASES]
    if unknown:
        parser.error(f"unknown release: {', '.join(unknown)}; known: {', '.join(releases.RELEASES)}")
    if options.write and (options.short or options.prepare):
        parser.error("--write needs all tests; leave out --short and --prepare")
    return options


def say(message):
    print(f"matrix: [{time.monotonic() - start:4.0f} s] {message}", file=sys.stderr, flush=True)


def prepare(name, options):
    """The root of a release, with all that its tests need, or the exception that says why there is none."""
    place = root.Root(releases.RELEASES[name], options.mirror)
    say(f"{name}: preparing {place.path}")
    try:
        place.prepare()
        say(f"{name}: building")
        suites.build(place)
        suites.prepare_lab(place)
    except EXPECTED as reason:
        return reason
    say(f"{name}: prepared")
    return place


def prepare_all(names, options):
    """Side by side: making a root keeps one processor busy, and waits for the mirror."""
    with concurrent.futures.ThreadPoolExecutor() as threads:
        return dict(zip(names, threads.map(functools.partial(prepare, options=options), names)))


def test(place, short):
    """The row of the table. Raises root.Failed."""
    name = place.release.name
    results = []
    for where, suite in (("natively", suites.native), ("in the lab", suites.lab)):
        say(f"{name}: testing, {where}")
        results.append(suite(place, short))
        print(results[-1].text, file=sys.stderr, end="", flush=True)
        say(f"{name}: {results[-1]}")
    rdma_core, kernel = place.version_of("rdma-core"), suites.lab_kernel(place)
    return table.Row(place.release.title, rdma_core, kernel, rxe=results[1], mlx5=results[0])


def attempt(name, place, options):
    """The line for the release, its row or None, and what it adds to the sum."""
    try:
        if isinstance(place, Exception):
            raise place
        if options.prepare:
            return f"{name}: prepared", None, suites.Results(passed=1)
        row = test(place, options.short)
    except root.Unavailable as reason:
        return f"{name}: skipped, {reason}", None, suites.Results(skipped=1)
    except EXPECTED as reason:
        say(reason)
        why = str(reason).strip().splitlines()[-1:]
        return f"FAIL {name}: not all its tests were run: {''.join(why)}", None, suites.Results(failed=1)
    natively, in_lab = f"rdma-core {row.rdma_core}: {row.mlx5}", f"Linux {row.kernel} in the lab: {row.rxe}"
    total = row.mlx5 + row.rxe
    return f"{'FAIL ' if total.failed else ''}{name}: {natively}; {in_lab}", row, total


def end_on_signal(number, _frame):
    """The threads that wait for programs would not notice."""
    root.stop_all()
    os._exit(EXIT_SIGNAL_BASE + number)


def main(arguments=None):
    options = parse(arguments)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end_on_signal)
    with root.locked():
        if options.clean:
            root.clean()
            if not options.releases:
                return 0
        places = prepare_all(options.releases or releases.others(), options)
        lines, rows, results = zip(*(attempt(*place, options) for place in places.items()))
    rows, total = [row for row in rows if row], sum(results, suites.Results())
    if options.write:
        table.update(rows)
    print("\n".join([*lines, *table.of(rows), str(total)]))
    if total.failed:
        return 1
    return 0 if total.passed else EXIT_SKIPPED
