# SPDX-License-Identifier: BSD-2-Clause
"""What tools/soak runs on the bed: inside.py BED BUILD-FOLDER SEED minutes=N|actions=N OUT."""

import os
import pathlib
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
LIB = pathlib.Path(__file__).resolve().parents[1]
ROOT = LIB.parents[1]
sys.path[:0] = [str(LIB), str(ROOT / "tests"), str(ROOT / "tests" / "lab")]

from products import Products  # noqa: E402  (the path comes first)
from soak import bed, run  # noqa: E402


def main():
    name, folder, seed, end, out = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    out = pathlib.Path(os.environ.get("LAB_OUT", out))
    kind, number = end.split("=")
    with tempfile.TemporaryDirectory(prefix="warmverbs-soak-") as work:
        soak = run.Soak(bed.BEDS[name](), Products(pathlib.Path(folder)), pathlib.Path(work), out)
        return soak.run(int(seed), **{kind: float(number)})


if __name__ == "__main__":
    sys.exit(main())
