# SPDX-License-Identifier: BSD-2-Clause
"""What counting instructions gets wrong: bench/calibration.c on this machine and where instructions are counted."""

import math
import statistics
import subprocess
import tempfile

from . import places
from .results import figures, row

# In the guest, a file of the host is opened by asking the host each time, which is no work of the guest's.
HELD = ["sh", "-c", 'cp "$2" /dev/shm/library && exec "$1" /dev/shm/library', "sh"]
# A figure may be that much more or less expensive, relative to the others, than on this machine.
LIMIT = 2


def measure(products, runs):
    command = [products.bench("calibration"), products.empty_library]
    native = medians([figures(output(command)) for _ in range(runs)])
    with tempfile.TemporaryDirectory() as out:
        words = places.lab("--count-instructions", "--quiet")(products, out)
        counted = figures(output([*words, *HELD, *command]))
    times = {name: counted[name] / native[name] for name in native}
    scale = math.exp(statistics.fmean(map(math.log, times.values())))
    compared = [compare(name, native[name], counted[name], times[name] / scale) for name in native]
    return [*compared, row("scale", plain=[1], warm=[scale], note="the geometric mean of all")]


def output(command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


def medians(samples):
    return {name: statistics.median(each[name] for each in samples) for name in samples[0]}


def compare(name, native, counted, off):
    beyond = "" if 1 / LIMIT <= off <= LIMIT else f", beyond {LIMIT}"
    note = f"{off:.2f} times the scale{beyond}"
    return row(name, plain=[native / 1000], warm=[counted / 1000], off=round(off, 3), note=note)
