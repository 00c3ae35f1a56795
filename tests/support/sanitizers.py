# SPDX-License-Identifier: BSD-2-Clause
"""Sanitizers that the tests are built with: what they want of programs."""

import functools
import os
import re
import shutil
import subprocess

WITHOUT_PRELOADS = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


@functools.cache
def _of(file):
    out = subprocess.run(["ldd", file], capture_output=True, text=True, check=False, env=WITHOUT_PRELOADS).stdout
    return re.findall(r"=> (\S*lib[at]san\.so\S*)", out)


def runtimes(*files):
    """The sanitizer runtimes that the files are linked with; they must be loaded first."""
    found = filter(None, map(shutil.which, map(str, files)))
    return sorted({runtime for file in found for runtime in _of(file)})
