# SPDX-License-Identifier: BSD-2-Clause
"""Root folders of other releases, kept in the cache: a small Debian, and the packages that the tests need there."""

import contextlib
import fcntl
import pathlib
import subprocess
import sys
import time
import urllib.request

import products
from lab import cache as lab_cache
from lab import process

ENTER = pathlib.Path(__file__).parent / "enter.py"
MIRROR_SECONDS = 20
FETCH_PAUSES = (5, 30)  # seconds: mirrors fail for moments

# A mirror of sid may be a few days old, the root never starts as a machine, and nobody reads its manuals.
BOOTSTRAP_OPTIONS = (
    "--mode=root",
    "--variant=apt",
    '--aptopt=Acquire::Check-Valid-Until "false"',
    '--aptopt=Acquire::Languages "none"',
    '--aptopt=APT::Install-Recommends "false"',
    "--dpkgopt=force-unsafe-io",
    *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "info", "locale", "man")),
)


children = set()  # the programs that run


class Unavailable(Exception):
    """This machine cannot have the root; the text says why."""


class Failed(Exception):
    """A command in the root failed; the text is what it printed."""


def folder():
    return lab_cache.folder().parent / "matrix"


@contextlib.contextmanager
def locked():
    """Lets one run at a time go on: the roots are shared."""
    folder().mkdir(parents=True, exist_ok=True)
    with open(folder() / "lock", "a", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def clean():
    for entry in folder().iterdir():
        if entry.is_dir():
            remove(entry)


def remove(path):
    """Never what is mounted below it, though nothing should be."""
    succeed(["rm", "--recursive", "--force", "--one-file-system", path])


class Root:
    def __init__(self, release, mirror):
        self.release = release
        self.mirror = mirror
        self.path = folder() / release.name

    def prepare(self):
        """Make the root unless it exists, and install in it what is missing. Raises Unavailable or Failed."""
        may_mount()
        if not self.path.exists():
            self._check_mirror()
            patiently(self._make)
        self.fetch("tools/install-deps", "--tests")

    def _check_mirror(self):
        url = f"{self.mirror}/dists/{self.release.name}/InRelease"
        try:
            urllib.request.urlopen(url, timeout=MIRROR_SECONDS).close()
        except (OSError, ValueError) as error:
            raise Unavailable(f"cannot read {url}: {error}") from None

    def _make(self):
        making = self.path.with_suffix(".new")
        remove(making)
        # What it mounts is seen by nobody else, and ends with it.
        succeed(["unshare", "--mount", "mmdebstrap", *BOOTSTRAP_OPTIONS, self.release.name, making, self.mirror])
        making.rename(self.path)

    def run(self, *command):
        """Run a command in the source tree, as it is in the root, and return what it prints. Raises Failed."""
        return succeed([sys.executable, ENTER, self.path, products.ROOT, *command])

    def fetch(self, *command):
        """Run a command that may download something, again if it fails. Raises Unavailable if the mirror does not
        answer, else Failed."""
        try:
            patiently(lambda: self.run(*command))
        except Failed:
            self._check_mirror()
            raise

    def attempt(self, *command):
        """The same, whatever its exit status: (status, output)."""
        return outcome([sys.executable, ENTER, self.path, products.ROOT, *command])

    def version_of(self, package):
        """The upstream version of an installed package."""
        return self.run("dpkg-query", "--show", "--showformat=${source:Upstream-Version}", package)


def patiently(download):
    """Call what may download something, again if it fails."""
    for seconds in FETCH_PAUSES:
        try:
            return download()
        except Failed:
            time.sleep(seconds)
    return download()


def may_mount():
    missing = [program for program in ("mmdebstrap", "unshare") if not process.find(program)]
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)}; run tools/install-deps")
    status, said = outcome(["unshare", "--mount", "true"])
    if status:
        raise Unavailable(f"may not mount; root can, outside an unprivileged container: {said.strip()}")


def outcome(command):
    child = process.start(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    children.add(child)
    try:
        said, _ = child.communicate()
    finally:
        process.stop(child)
        children.discard(child)
    return child.returncode, said


def stop_all():
    """Stop what other threads wait for, and all that it has started."""
    for child in tuple(children):
        process.stop(child)


def succeed(command):
    status, said = outcome(command)
    if status:
        raise Failed(f"this failed ({status}): {' '.join(str(word) for word in command)}\n{said}")
    return said
