# SPDX-License-Identifier: BSD-2-Clause
"""The command line of tools/matrix."""

import argparse
import sys
import time

from lab import report

from . import releases, root, suites, table

DEFAULT_MIRROR = "http://deb.debian.org/debian"
EXIT_SKIPPED = 77

DESCRIPTION = """\
Builds and tests warmverbs on other releases of Debian, from any of them. For each release it makes a root folder with
the release's compiler, rdma-core and programs, builds there, and runs the tests of the normal build: those without an
RDMA device with the kernel of this machine, those on soft-RoCE in the lab, with the kernel of the release.

The root folders stay in the cache (about 1 GB each); the source tree is only read.
"""

EPILOG = """\
Needs root, and a network when a root folder is made or packages are missing in it; sid is as new as its root folder,
so run --clean before to have it of today. One test run of all releases takes about an hour on two processors.

Progress, and the output of what failed, go to stderr. To stdout go a line for each release, the rows of the table in
docs/compatibility.md, and a last line "N passed, N failed, N skipped". A release that cannot be had is skipped. Exit
status: 0 if nothing failed, 1 if something did, 2 for wrong usage, 77 if everything was skipped.

examples:
  tools/matrix                   all releases but that of this machine
  tools/matrix --short trixie    what tools/test runs, of Debian 13
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
    parser.add_argument("--write", action="store_true", help="write the rows into docs/compatibility.md")
    parser.add_argument("--mirror", metavar="URL", default=DEFAULT_MIRROR, help="of Debian (default: %(default)s)")
    parser.add_argument("--clean", action="store_true", help="remove the root folders first; alone: do only that")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.releases if name not in releases.RELEASES]
    if unknown:
        parser.error(f"unknown release: {', '.join(unknown)}; known: {', '.join(releases.RELEASES)}")
    if options.write and options.short:
        parser.error("--write needs all tests; leave out --short")
    return options


def say(message):
    print(f"matrix: [{time.monotonic() - start:4.0f} s] {message}", file=sys.stderr, flush=True)


def test(release, options):
    """The row of the table. Raises root.Unavailable or root.Failed."""
    place = root.Root(release, options.mirror)
    say(f"{release.name}: preparing {place.path}")
    place.prepare()
    say(f"{release.name}: building")
    suites.build(place)
    results = []
    for name, suite in (("natively", suites.native), ("in the lab", suites.lab)):
        say(f"{release.name}: testing, {name}")
        results.append(suite(place, options.short))
        print(results[-1].text, file=sys.stderr, end="", flush=True)
        say(f"{release.name}: {results[-1]}")
    return table.Row(release.title, place.version_of("rdma-core"), suites.lab_kernel(place), results[1], results[0])


def test_all(options):
    """The line of each release, the rows of those that were tested, and the sum."""
    lines, rows, total = [], [], suites.Results()
    for name in options.releases or releases.others():
        try:
            row = test(releases.RELEASES[name], options)
        except root.Unavailable as reason:
            lines.append(f"{name}: skipped, {reason}")
            total += suites.Results(skipped=1)
            continue
        except (root.Failed, report.LabError, OSError) as reason:
            say(reason)
            lines.append(f"{name}: failed before its tests were run")
            total += suites.Results(failed=1)
            continue
        rows.append(row)
        natively, in_lab = f"rdma-core {row.rdma_core}: {row.mlx5}", f"Linux {row.kernel} in the lab: {row.rxe}"
        lines.append(f"{name}: {natively}; {in_lab}")
        total += row.mlx5 + row.rxe
    return lines, rows, total


def main(arguments=None):
    options = parse(arguments)
    with root.locked():
        if options.clean:
            root.clean()
            if not options.releases:
                return 0
        lines, rows, total = test_all(options)
    if options.write:
        table.update(rows)
    print("\n".join([*lines, table.HEAD, table.RULE, *map(str, rows), str(total)]))
    if total.failed:
        return 1
    return 0 if total.passed else EXIT_SKIPPED
