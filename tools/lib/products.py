# SPDX-License-Identifier: BSD-2-Clause
"""Builds, and knows where the built files are."""

import dataclasses
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


class BuildError(Exception):
    """Something could not be built; the text names the command to look at."""


@dataclasses.dataclass(frozen=True)
class Products:
    """What one build folder holds."""

    folder: pathlib.Path

    @property
    def library(self):
        return self.folder / "src" / "preload" / "libwarmverbs.so.0"

    @property
    def daemon(self):
        return self.folder / "src" / "daemon" / "warmverbsd"

    @property
    def command(self):
        return self.folder / "src" / "cli" / "warmverbs"

    @property
    def timer(self):
        return self.folder / "bench" / "libbench-timer.so"

    @property
    def empty_library(self):
        return self.folder / "bench" / "libbench-empty.so"

    @property
    def dc_pingpong(self):
        return self.folder / "tests" / "programs" / "dc_pingpong"

    def template(self, name):
        return self.folder / "src" / "template" / name

    def templates(self):
        return sorted(path for path in (self.folder / "src" / "template").iterdir() if path.is_file())

    def bench(self, name):
        return self.folder / "bench" / name

    def all(self):
        folders = (self.library.parent, self.daemon.parent, self.command.parent, self.timer.parent)
        return sorted({path for folder in folders for path in folder.iterdir() if path.is_file()})


def install(say):
    say("installing what is missing")
    step([ROOT / "tools" / "install-deps"])


def build(folder, say, *options):
    """Install what is missing, then bring the build in `folder` (below the source tree) up to date."""
    install(say)
    folder = ROOT / folder
    say(f"building in {folder.relative_to(ROOT)}")
    if not (folder / "build.ninja").exists():
        step(["meson", "setup", folder, ROOT, *options], quiet=True)
    step(["meson", "compile", "-C", folder], quiet=True)
    return Products(folder)


def step(command, quiet=False):
    """Run a command; its output goes to stderr, at once or, if quiet, only when the command fails."""
    output = subprocess.PIPE if quiet else sys.stderr
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False)
    if result.returncode != 0:
        if quiet:
            sys.stderr.buffer.write(result.stdout)
        words = " ".join(str(word) for word in command)
        raise BuildError(f"this failed ({result.returncode}), see above: {words}")
