# SPDX-License-Identifier: BSD-2-Clause
"""What is to run, and the little script that runs it in the guest."""

import dataclasses
import os
import pathlib
import re
import shlex

from .report import EXIT_LAB_FAILED

FORWARDED_NAMES = {"PATH", "HOME", "CI", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}
FORWARDED_PREFIXES = ("WARMVERBS_", "MESON_", "LAB_", "BENCH_")
SHELL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclasses.dataclass(frozen=True)
class Job:
    command: list
    timeout: int
    out: pathlib.Path  # On the host: the folder that the command knows as LAB_OUT.
    cwd: pathlib.Path = dataclasses.field(default_factory=pathlib.Path.cwd)
    systemd: bool = False  # whether process 1 of the guest is systemd


def lab_environment(kind, device, out):
    return {"LAB": kind, "LAB_DEVICE": device, "LAB_OUT": str(out)}


def is_forwarded(name):
    wanted = name in FORWARDED_NAMES or name.startswith(FORWARDED_PREFIXES)
    return wanted and SHELL_NAME.fullmatch(name)


def forwarded_environment():
    return {name: value for name, value in os.environ.items() if is_forwarded(name)}


def guest_script(job, environment):
    """The job as a script for /bin/sh."""
    return "\n".join(
        [
            f"cd {shlex.quote(str(job.cwd))} || exit {EXIT_LAB_FAILED}",
            *(f"export {name}={shlex.quote(value)}" for name, value in environment.items()),
            f"exec {shlex.join(job.command)}",
            "",
        ]
    )


def below(path, folder):
    return pathlib.Path(folder) in (path, *path.parents)
