# SPDX-License-Identifier: BSD-2-Clause
"""What tools/bench runs at a place (places.py): inside.py NAME PART BUILD-FOLDER RUNS. Writes $LAB_OUT/rows.json."""

import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from bench.catalogue import BENCHES  # noqa: E402  (the path comes first)
from bench.say import say  # noqa: E402
from products import Products  # noqa: E402
from session import SessionError  # noqa: E402


def main():
    name, part, folder, runs = sys.argv[1:]
    _, measure = BENCHES[name].parts[int(part)]
    try:
        rows = measure(Products(pathlib.Path(folder)), int(runs))
    except SessionError as error:
        say(error)
        return 1
    pathlib.Path(os.environ["LAB_OUT"], "rows.json").write_text(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
