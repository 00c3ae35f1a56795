# SPDX-License-Identifier: BSD-2-Clause
"""Child processes that never outlive the lab."""

import ctypes
import os
import shutil
import signal
import subprocess

from .report import LabError

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent):
    """Between fork and exec: have the kernel kill this child when the lab dies, however it dies."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # The lab died before the line above.
        os.kill(os.getpid(), signal.SIGKILL)


def start(command, **options):
    """Start a child in a session of its own: a Ctrl-C reaches only the lab, which then ends it."""
    parent = os.getpid()
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: die_with_parent(parent),
        **options,
    )


def stop(child):
    """Kill the child's whole process group at once: nothing of value is left in it."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def require(*programs):
    missing = [program for program in programs if not find(program)]
    if missing:
        raise LabError(f"not installed: {', '.join(missing)}; run tools/install-deps")


def find(program):
    """Like `which`, but also in the sbin folders, which an ordinary user's PATH lacks."""
    return shutil.which(program, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin")


def output(command, input=b"", **options):
    """Run a short command and return what it prints; if it fails, the lab fails."""
    program = find(command[0]) or command[0]
    result = subprocess.run(
        [program, *command[1:]],
        input=input,
        capture_output=True,
        env={**os.environ, "LC_ALL": "C"},
        **options,
    )
    if result.returncode != 0:
        *_, reason = ["no reason given", *result.stderr.decode(errors="replace").splitlines()]
        raise LabError(f"{command[0]} failed ({result.returncode}): {reason}")
    return result.stdout
