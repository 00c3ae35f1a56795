# SPDX-License-Identifier: BSD-2-Clause
"""Keeps files in memory. In the lab's virtual machine the first read of a file, and every open of a file of the host,
waits for the host; this time is not the program's and must not be measured."""

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
