# SPDX-License-Identifier: BSD-2-Clause
"""Installing warmverbs in the lab's virtual machine."""

import subprocess
import sys

from .places import DAEMON, UNIT


def install(build):
    """As docs/operations.md says, but for the compilation."""
    for command in (["meson", "install", "-C", build, "--no-rebuild", "--quiet"], ["systemd-sysusers"],
                    ["systemctl", "daemon-reload"]):
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    for path in (DAEMON, UNIT):
        if not path.exists():
            sys.exit(f"{path} is not installed: configure {build} with --prefix=/usr/local")
