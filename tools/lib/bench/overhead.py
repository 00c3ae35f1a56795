"""What the preload costs where it brings nothing: a program without RDMA, and a program's first run."""

import subprocess

import session

from . import warm
from .results import figures, row

SPAWNS_PER_RUN = 50


def true(products, runs):
    """/bin/true natively; an empty library beside ours shows what any library costs."""
    spawns = SPAWNS_PER_RUN * runs
    libraries = (products.empty_library, products.library)
    options = [word for library in libraries for word in ("-p", str(library))]
    command = [str(products.bench("spawn")), "-n", str(spawns), *options, "/bin/true"]
    result = figures(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode())
    plain, empty, ours = (result[str(name)] / 1000 for name in ("plain", *libraries))
    native = {"bed": "native", "runs": spawns}
    return [
        row("true", plain=[plain], warm=[ours], added=round(ours - plain, 3), **native),
        row("true, an empty library", plain=[plain], warm=[empty], added=round(empty - plain, 3), **native),
    ]


def miss_path(products, runs):
    """A first run, which is recorded. What is paid for it is the difference to the same run that nobody records: the
    provider preload, which a first run has as well, must not hide it."""
    command = [products.bench("phases")]
    with warm.node(products, command) as node:
        run = FirstRuns(node, command)
        samples = warm.interleave(node, runs, run.once)
    return [added("miss_path", {mode: [total(sample) for sample in samples[mode]] for mode in session.MODES})]


class FirstRuns:
    """Runs a program so that each warm run is its first: a name of its own makes it another program."""

    def __init__(self, node, command):
        self.node = node
        self.command = command
        self.count = 0

    def once(self, mode):
        self.count += 1
        return figures(self.node.run(self.command, mode, WARMVERBS_NAME=f"first-{self.count}"))


def total(sample):
    return sum(sample.values()) / 1000


def added(name, totals):
    """A row whose note is the time of a first run, had it no provider preload, as a multiple of plain."""
    each = row(name, **totals)
    times = (each["plain"] + each["warm"] - each["preload"]) / each["plain"]
    return {**each, "times_plain": round(times, 4)}
