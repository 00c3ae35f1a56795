# SPDX-License-Identifier: BSD-2-Clause
"""What is built and run in a root, and the results."""

import dataclasses
import json
import re
import shutil

import products
from lab import cache as lab_cache

BUILD = "/var/cache/warmverbs"  # in the root, so that the source tree stays as it is
GOOD = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP"}
LAB_SECONDS = 2400
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)

# Of --short: what depends on the release. Natively, on its compiler, libc and rdma-core: all commands that its libmlx5
# gives are known, real programs get all from a lease, and children use what they inherit.
SHORT_NATIVE = (
    ("--suite", "unit", "--suite", "tools", "--suite", "preload"),
    ("leases answers", "leases forks", "leases listing", "leases sides", "leases traps", "prefork programs"),
)
# Why: see tools/test.
SAME_ADDRESSES = ("setarch", "--addr-no-randomize")
# In the lab, on its kernel and perftest: each way to get something from a lease once, and what warmverbs relies on.
SHORT_LAB = (
    "program: ibv_rc_pingpong -e",
    "program: ibv_srq_pingpong -e",
    "program: ib_send_lat -c UD",
    "program: ib_write_bw -q 4",
    "program: rping",
    "program: ibv_devinfo -v",
    "fork: the child uses what it inherits",
    "fork: whose memory the adapter reads",
    "kernel: doorbell",
    "kernel: handles",
    "kernel: passed_ufile",
    "kernel: qp_reset",
)


@dataclasses.dataclass
class Results:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    text: str = ""  # what was printed, if something failed

    def __add__(self, other):
        both = zip(dataclasses.astuple(self), dataclasses.astuple(other))
        return Results(*(ours + theirs for ours, theirs in both))

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def is_of_this_tree(folder):
    """A root serves all source trees, and a build folder has the path of its own."""
    try:
        known = json.loads((folder / "meson-info" / "meson-info.json").read_text())
    except FileNotFoundError:
        return False
    return known["directories"]["source"] == str(products.ROOT)


def build(root):
    """Raises root.Failed."""
    folder = root.path / BUILD.lstrip("/")
    if not is_of_this_tree(folder):
        shutil.rmtree(folder, ignore_errors=True)
        werror = ["--werror"] if root.release.werror else []
        root.run("meson", "setup", BUILD, products.ROOT, "--buildtype=debugoptimized", *werror)
    root.run("meson", "compile", "-C", BUILD)


def prepare_lab(root):
    """Get the kernel of the release, and make the image that is booted. Raises what root.fetch() raises."""
    root.fetch("tools/lab", "prepare", "--quiet")


def native(root, short):
    """The tests that need no RDMA device."""
    runs = SHORT_NATIVE if short else ((),)
    return sum((meson_test(root, selection) for selection in runs), Results())


def meson_test(root, selection):
    log = root.path / BUILD.lstrip("/") / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    options = ("--no-rebuild", "--print-errorlogs", "--timeout-multiplier", "4")
    status, said = root.attempt("meson", "test", "-C", BUILD, *options, *selection)
    if not log.exists():
        return Results(failed=1, text=said)
    return read_meson_log(log.read_text(), said if status else "")


def read_meson_log(log, said=""):
    results = Results(text=said)
    for test in map(json.loads, log.splitlines()):
        if test["result"] in GOOD:
            results.passed += 1
        elif test["result"] in SKIPPED:
            results.skipped += 1
        else:
            results.failed += 1
    return results


def lab(root, short):
    """The tests on soft-RoCE, with the release's kernel."""
    cases = [word for title in SHORT_LAB for word in ("--only", title)] if short else []
    with lab_cache.locked():  # The root's own lab would not wait for that of this machine.
        run = (*SAME_ADDRESSES, "tests/lab/run") if short else ("tests/lab/run",)
        command = ("tools/lab", "run", "--quiet", "--timeout", LAB_SECONDS, "--", *run, BUILD, *cases)
        return read_lab(*root.attempt(*command))


def read_lab(status, said):
    counts = COUNTS.search(said)
    if not counts:
        return Results(failed=1, text=said)
    results = Results(*map(int, counts.groups()))
    if status and not results.failed:
        results.failed = 1
    if results.failed:
        results.text = said
    return results


def lab_kernel(root):
    """The kernel that the root's lab boots, as uname -r says it; '' if it has none yet."""
    kernels = (root.path / "root/.cache/warmverbs/lab").glob("kernel-*")
    return next((path.name.partition("-")[2] for path in kernels), "")
