# SPDX-License-Identifier: BSD-2-Clause
"""What exists besides the soak itself, before and after."""

import os
import pathlib

MEMORY_KIB = 8192  # of the daemon: what the heap may keep


def shared_files():
    """In /dev/shm other programs of the machine have files, too."""
    return sorted(path.name for path in pathlib.Path("/dev/shm").iterdir() if "warmverbs" in path.name)


def children(known):
    """Our processes besides the known ones; orphans become ours. Those that ended are waited for."""
    found = []
    for pid in map(int, pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()):
        if pid in known:
            continue
        try:
            ended, _ = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            continue
        if not ended:
            found.append(f"{pid} {name_of(pid)}")
    return found


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "?"


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def measure(bed, daemon, work):
    """All that must be the same, by name; @work: the folder of jobs."""
    return {
        "kernel objects": bed.objects(),
        "descriptors of the daemon": daemon.descriptors() - bed.connections(),
        "threads of the daemon": daemon.threads(),
        "processes": children({daemon.pid}),
        "files of the daemon": files_below(daemon.folder),
        "files of state": files_below(daemon.state),
        "files of programs": files_below(work),
        "files of shared memory": shared_files(),
    }


def memory(daemon):
    """What may grow by MEMORY_KIB."""
    return {f"{field} of the daemon": daemon.memory(field) for field in ("VmRSS", "RssShmem")}


def differences(base, now):
    return [f"{name}: {now[name]}, at first {base[name]}" for name in base if now[name] != base[name]]


def growth(base, now):
    grown = [name for name in base if now[name] > base[name] + MEMORY_KIB]
    return [f"{name}: {now[name]} KiB, at first {base[name]} KiB" for name in grown]
