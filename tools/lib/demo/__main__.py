# SPDX-License-Identifier: BSD-2-Clause
"""Entry point of tools/demo."""

import pathlib
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from demo.main import main  # noqa: E402  (the path comes first)

if __name__ == "__main__":
    sys.exit(main())
