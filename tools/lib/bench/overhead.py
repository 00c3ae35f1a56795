# SPDX-License-Identifier: BSD-2-Clause
"""What the preload costs where it saves nothing: a program without RDMA, and the first run of a program."""

import subprocess

from . import warm
from .phases import TO_INIT, total
from .results import figures, row

SPAWNS_PER_RUN = 50


def true(products, runs):
    """/bin/true natively; an empty library, measured too, shows what any library costs."""
    spawns = SPAWNS_PER_RUN * runs
    libraries = (products.empty_library, products.library)
    options = [word for library in libraries for word in ("-p", str(library))]
    command = [str(products.bench("spawn")), "-n", str(spawns), *options, "/bin/true"]
    result = figures(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode())
    plain, empty, ours = (result[str(name)] / 1000 for name in ("plain", *libraries))
    return [spawned("true", plain, ours, spawns), spawned("true, an empty library", plain, empty, spawns)]


def spawned(name, plain, preloaded, spawns):
    note = f"{preloaded - plain:+.1f} us"
    return row(name, plain=[plain], warm=[preloaded], bed="native", runs=spawns, note=note)


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
