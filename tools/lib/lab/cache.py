# SPDX-License-Identifier: BSD-2-Clause
"""The cache folder: what `prepare` makes, and the lock that keeps lab runs on a machine apart."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import tempfile
import time

from .report import Progress

WAIT_NOTICE_SECONDS = 2
POLL_SECONDS = 0.1


def folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "warmverbs" / "lab"


def remove(keep=()):
    """Empty the cache, except for the lock file, which others wait for, and the temporary folders of this run."""
    for entry in folder().glob("[!.]*"):
        if entry.is_dir() and entry not in keep:
            shutil.rmtree(entry)


@contextlib.contextmanager
def new_entry(name):
    """A folder that appears in the cache as `name`, complete, when the block succeeds."""
    with temporary_folder() as temporary:
        building = pathlib.Path(temporary) / name
        building.mkdir()
        yield building
        building.rename(folder() / name)


def temporary_folder():
    """In the cache, so that the next holder of the lock finds what a killed one leaves behind."""
    return tempfile.TemporaryDirectory(prefix=".", dir=folder())


@contextlib.contextmanager
def locked():
    """Lets one run at a time go on. The file names the holder, for those who wait."""
    folder().mkdir(parents=True, exist_ok=True)
    with open(folder() / "lock", "a+", encoding="ascii") as file:
        wait_for(file)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        sweep()
        yield


def wait_for(file):
    notice_at = time.monotonic() + WAIT_NOTICE_SECONDS
    while not try_lock(file):
        if notice_at and time.monotonic() >= notice_at:
            notice_at = None
            file.seek(0)
            Progress.say(f"waiting for the lab run of process {file.read().strip() or 'unknown'}")
        time.sleep(POLL_SECONDS)


def try_lock(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False


def sweep():
    """Remove what a killed holder of the lock left behind."""
    for entry in folder().glob(".*"):
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
