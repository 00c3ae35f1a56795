# SPDX-License-Identifier: BSD-2-Clause
"""Keeps files in memory. In the lab's virtual machine the first read of a file, and every open of a file of the host,
waits for the host; this time is not the program's and must not be measured."""

import contextlib
import functools
import os
import pathlib
import re
import shutil
import subprocess

PROVIDERS = pathlib.Path("/usr/lib/x86_64-linux-gnu/libibverbs")
PROVIDER_LIST = pathlib.Path("/etc/libibverbs.d")
# Files that starting a program and looking up an address read, besides programs and libraries.
SETTINGS = (
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
)
APART = pathlib.Path("/dev/shm/root")
KERNEL = ("proc", "sys", "dev", "run", "tmp")  # no files of the host
SHARED_OBJECT = re.compile(rb"(/\S+) \(0x")


def hold(programs):
    """Copy the programs and all that they load to the guest's memory. Only for the lab's virtual machine."""
    for folder in (PROVIDERS, PROVIDER_LIST):
        hold_folder(folder)
    objects = [*map(str, programs), *map(str, PROVIDERS.iterdir())]
    for path in sorted({*objects, *libraries(objects), *SETTINGS}):
        hold_file(pathlib.Path(path))


def libraries(programs):
    """The files that the dynamic loader opens for them, by the names that it uses."""
    listing = subprocess.run(["ldd", *programs], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return {os.fsdecode(match) for match in SHARED_OBJECT.findall(listing)}


@functools.cache
def hold_folder(folder):
    """Copy a folder whose list of files is read too: no file of the host may be left in it."""
    copy = pathlib.Path("/dev/shm", "held", folder.relative_to("/"))
    shutil.copytree(folder, copy, symlinks=True)
    subprocess.run(["mount", "--bind", copy, folder], check=True)


@functools.cache
def hold_file(path):
    """Copy the symbolic links on the way too, because reading one asks the host each time."""
    for parent in (*reversed(path.parents), path):
        if parent.is_symlink():
            hold_link(parent)
    path = path.resolve()
    if path.is_file() and PROVIDERS not in path.parents:
        replace(path, lambda copy: shutil.copy2(path, copy))


@functools.cache
def hold_link(link):
    target = link.readlink()
    replace(link, lambda copy: copy.symlink_to(target))
    if not target.is_absolute():
        target = link.parent / target
    if target.is_symlink():
        hold_link(target)


def replace(path, make):
    copy = path.with_name(path.name + ".held")
    make(copy)
    os.replace(copy, path)


@contextlib.contextmanager
def apart(paths):
    """For this process and those that it starts, no other file of the host is there: just these, folders with all that
    is in them, and what they load. Only for the lab's virtual machine. Where a file is not, the host is asked each
    time, and Python looks for its modules in many folders."""
    paths = [*paths, PROVIDERS, PROVIDER_LIST, *map(pathlib.Path, SETTINGS)]
    files = [file for path in paths for file in ((path, *path.rglob("*")) if path.is_dir() else (path,))]
    objects = [file for file in files if ".so" in file.suffixes or os.access(file, os.X_OK) and file.is_file()]
    for file in (*files, *map(pathlib.Path, libraries(objects))):
        place(file)
    with contextlib.ExitStack() as undo:
        before = os.open("/", os.O_PATH)
        undo.callback(os.close, before)
        for name in KERNEL:
            (APART / name).mkdir(exist_ok=True)
            subprocess.run(["mount", "--rbind", f"/{name}", APART / name], check=True)
            undo.callback(subprocess.run, ["umount", "--recursive", "--lazy", APART / name], check=True)
        undo.callback(os.chroot, ".")
        undo.callback(os.fchdir, before)
        os.chroot(APART)
        os.chdir("/")
        yield


@functools.cache
def place(path):
    """Copies a file to the same place behind the other root, and the links that lead to it."""
    link = next((part for part in (*reversed(path.parents), path) if part.is_symlink()), None)
    copy = APART / (link or path).relative_to("/")
    copy.parent.mkdir(parents=True, exist_ok=True)
    if link:
        if not copy.is_symlink():
            copy.symlink_to(link.readlink())
        place(pathlib.Path(os.path.normpath(link.parent / link.readlink() / path.relative_to(link))))
    elif path.is_dir():
        copy.mkdir(exist_ok=True)
    elif path.exists():
        shutil.copy2(path, copy)
