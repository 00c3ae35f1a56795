#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""enter.py ROOT SOURCE COMMAND...: runs COMMAND in SOURCE, with ROOT as root folder, where SOURCE is under its own name
and read-only. The mounts are in a mount namespace of its own and end with COMMAND."""

import ctypes
import os
import pathlib
import sys

CLONE_NEWNS = 0x20000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
SYS_PIVOT_ROOT = 155  # of x86_64, as the lab
LIBC = ctypes.CDLL(None, use_errno=True)
ENVIRONMENT = {"HOME": "/root", "LC_ALL": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def check(result):
    if result:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def mount(source, target, flags=MS_BIND, kind=None, data=None):
    words = [word and str(word).encode() for word in (source, target, kind, data)]
    check(LIBC.mount(words[0], words[1], words[2], flags, words[3]))


def mount_all(root, source):
    check(LIBC.unshare(CLONE_NEWNS))
    mount(None, "/", MS_REC | MS_PRIVATE)
    mount(root, root)
    for tree in ("proc", "sys", "dev"):
        mount(f"/{tree}", root / tree, MS_BIND | MS_REC)
    mount("tmp", root / "tmp", 0, "tmpfs", "mode=1777")
    mount("run", root / "run", 0, "tmpfs", "mode=755")
    inside = root / source.relative_to("/")
    inside.mkdir(parents=True, exist_ok=True)
    mount(source, inside)
    mount(None, inside, MS_BIND | MS_REMOUNT | MS_RDONLY)


def change_root(root):
    """Not chroot(): tests make namespaces of their own, for which the root must be a mount."""
    os.chdir(root)
    check(LIBC.syscall(SYS_PIVOT_ROOT, b".", b"."))
    check(LIBC.umount2(b".", MNT_DETACH))
    os.chdir("/")


def main():
    root, source, *command = sys.argv[1:]
    mount_all(pathlib.Path(root), pathlib.Path(source))
    change_root(root)
    os.chdir(source)
    # Not execvpe(), which imports a module: those of this Python are not in the root.
    os.execve("/usr/bin/env", ["env", *command], ENVIRONMENT)


if __name__ == "__main__":
    main()
