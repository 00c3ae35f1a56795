# SPDX-License-Identifier: BSD-2-Clause
"""The daemon's system calls that fail, as the kernel traces them: from its first to its last, and without a part of the
sandbox being lifted, as strace needs it."""

import errno
import pathlib
import re
import subprocess

PROGRAM = "warmverbsd"
TRACING = pathlib.Path("/sys/kernel/tracing")
REFUSED = [errno.EPERM, errno.EACCES, errno.EROFS, errno.EAFNOSUPPORT]
SETSOCKOPT = 54
SO_SNDBUFFORCE = 0x20
ENTER = re.compile(r"-(\d+) .* sys_enter: NR (\d+) \((.*)\)")
EXIT = re.compile(r"-(\d+) .* sys_exit: NR (\d+) = (-?\d+)")


def start():
    """Begins to trace. For the lab's virtual machine: nobody ends it."""
    subprocess.run(["mount", "-t", "tracefs", "tracefs", str(TRACING)], check=True)
    TRACING.joinpath("buffer_size_kb").write_text("8192")
    events = TRACING / "events/raw_syscalls"
    failures = " || ".join(f"ret == {-number}" for number in REFUSED)
    events.joinpath("sys_exit/filter").write_text(f'comm == "{PROGRAM}" && (id == {SETSOCKOPT} || {failures})')
    events.joinpath("sys_enter/filter").write_text(f'comm == "{PROGRAM}" && id == {SETSOCKOPT}')
    for name in ("sys_enter", "sys_exit"):
        events.joinpath(name, "enable").write_text("1")


def lines():
    return [line for line in TRACING.joinpath("trace").read_text().splitlines() if not line.startswith("#")]


def seen():
    """Whether any of its calls were traced: libsystemd always sets options of its sockets."""
    return bool(lines())


def refused():
    """The calls that were refused, as the kernel describes them.

    One may be: libsystemd tries to exceed the limit on socket buffers, for which it needs CAP_NET_ADMIN, and does
    without.
    """
    found, option = [], {}
    for line in lines():
        if match := ENTER.search(line):
            option[match[1]] = int(match[3].split(", ")[2], 16)
        if (match := EXIT.search(line)) and -int(match[3]) in REFUSED:
            harmless = int(match[2]) == SETSOCKOPT and option.get(match[1]) == SO_SNDBUFFORCE
            found += [] if harmless else [line.strip()]
    return found
