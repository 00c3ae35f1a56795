# SPDX-License-Identifier: BSD-2-Clause
"""What the preload costs where it saves nothing: a program that ends at once, and the first run of a program."""

import os
import shutil
import subprocess
import tempfile

from . import warm
from .phases import TO_INIT, total
from .results import figures, median, row

# Where the pages of one file lie in memory changes a start by up to 15 us, so each run has files of its own.
SPAWNS_PER_RUN = 50


def start(products, runs):
    """Programs that end at once, natively; an empty library, measured too, shows what any library costs."""
    rdma = str(shutil.which("ibv_rc_pingpong"))
    return spawned("true", ["/bin/true"], products, runs) + spawned("rdma_start", [rdma, "--help"], products, runs)


def spawned(name, program, products, runs):
    samples = [spawn(program, products) for _ in range(runs)]
    plain, empty, ours, empty_above, ours_above = ([each[i] / 1000 for each in samples] for i in range(5))
    common = {"bed": "native", "runs": SPAWNS_PER_RUN * runs, "plain": plain}
    above = f"{median(ours_above):+.1f} us above an empty library"
    return [
        row(name, **common, warm=ours, note=above),
        row(f"{name}, an empty library", **common, warm=empty, note=f"{median(empty_above):+.1f} us"),
    ]


def spawn(program, products):
    """Nanoseconds: plainly, with each library, and what each library adds to the way before it."""
    with tempfile.TemporaryDirectory(dir=products.folder) as folder:
        empty, ours = (from_disk(library, folder) for library in (products.empty_library, products.library))
        command = [products.bench("spawn"), "-n", SPAWNS_PER_RUN, "-p", empty, "-p", ours, *program]
        words = [str(word) for word in command]
        result = figures(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.decode())
    return [result[name] for name in ("plain", empty, ours, "above plain", f"above {empty}")]


def from_disk(library, folder):
    """A copy that the kernel reads from the disk, like an installed library, when it is first used."""
    copy = shutil.copy(library, folder)
    descriptor = os.open(copy, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    return copy


def miss_path(products, runs):
    """A first run, which is recorded."""
    command = [products.bench("phases")]
    with warm.node(products, command) as node:
        samples = warm.interleave(node, runs, lambda mode: first_run(node, command, mode))
    return [
        recorded("miss_path", list, samples),
        recorded("miss_path, list_to_init", lambda _: TO_INIT, samples),
    ]


def first_run(node, command, mode):
    result = figures(node.run(command, mode))
    node.forget()
    return result


def recorded(name, parts, samples):
    """A row of first runs. The cost of recording is the difference to a run that is not recorded: first runs also have
    the provider preload, whose gain must not hide that cost."""
    each = row(name, **{mode: [total(sample, parts(sample)) for sample in samples[mode]] for mode in samples})
    times = (each["plain"] + each["warm"] - each["preload"]) / each["plain"]
    return {**each, "times_plain": round(times, 4), "note": f"{times:.3f} times plain without the provider preload"}
