# SPDX-License-Identifier: BSD-2-Clause
"""From the start of a container (crun) to the first completion of an RDMA READ in it. Without a lease, the library
saves the loading of providers only; with one, there is a pool as large as the last burst was."""

import pathlib
import subprocess
import tempfile
import time

import session

from . import container, needed, warm
from .results import figures, row

AT_ONCE = (1, 8)
CGROUPS = pathlib.Path("/sys/fs/cgroup")


def measure(products, runs):
    needed.check({"crun": "crun"})
    program = products.bench("contained")
    mount_cgroups()
    with warm.node(products, [program]) as node, tempfile.TemporaryDirectory() as folder:
        bundles = {mode: pathlib.Path(folder, mode) for mode in session.MODES}
        for mode, bundle in bundles.items():
            container.make(bundle, [program], node.environment(mode))
        return [measure_burst(node, bundles, runs, n) for n in AT_ONCE]


def mount_cgroups():
    """This is a virtual machine that nobody else uses."""
    if not (CGROUPS / "cgroup.controllers").exists():
        subprocess.run(["mount", "-t", "cgroup2", "none", CGROUPS], check=True)


def measure_burst(node, bundles, runs, n):
    samples = warm.interleave(node, runs, lambda mode: burst(bundles[mode], n))
    return row(f"first_completion_{n}", **{mode: sum(samples[mode], []) for mode in samples})


def burst(bundle, n):
    """Milliseconds of each of `n` containers that start at once."""
    began, running = [], []
    for i in range(n):
        began.append(time.monotonic_ns())
        words = [*container.run_words(bundle), f"{bundle.name}-{i}"]
        running.append(
            subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        )
    said = [figures(session.finish(process)) for process in running]
    return [(each["first_completion"] - start) / 1e6 for each, start in zip(said, began)]
