# SPDX-License-Identifier: BSD-2-Clause
"""Containers, by crun: the files of this machine, its network, and processes apart."""

import json
import pathlib

OWN_FOLDERS = {"proc", "lost+found"}  # of the root folder; a container does not get that of the host


def make(bundle, command, environment):
    """A bundle of the OCI runtime specification 1.0, in the folder `bundle`."""
    root = bundle / "root"
    root.mkdir(parents=True)
    mounts = [{"destination": "/proc", "type": "proc", "source": "proc"}]
    for entry in sorted(pathlib.Path("/").iterdir()):
        if entry.is_symlink():
            (root / entry.name).symlink_to(entry.readlink())
        elif entry.is_dir() and entry.name not in OWN_FOLDERS:
            mounts.append({"destination": str(entry), "type": "bind", "source": str(entry), "options": ["rbind"]})
    specification = {
        "ociVersion": "1.0.0",
        "root": {"path": "root"},
        "process": {
            "user": {"uid": 0, "gid": 0},
            "cwd": "/",
            "args": list(map(str, command)),
            "env": [f"{name}={value}" for name, value in environment.items()],
        },
        "mounts": mounts,
        "linux": {"namespaces": [{"type": each} for each in ("mount", "pid", "ipc", "uts")]},
    }
    (bundle / "config.json").write_text(json.dumps(specification))


def run_words(bundle):
    """The command that runs it, but for a name. It wants cgroups of version 2, though it makes none."""
    return ["crun", "--root", f"{bundle}.state", "--cgroup-manager=disabled", "run", "--no-pivot", "--bundle", bundle]
