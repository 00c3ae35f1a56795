# SPDX-License-Identifier: BSD-2-Clause
"""Licence lines: SPDX-License-Identifier at the head of every file that is code."""

import os
import pathlib

IDENTIFIER = "SPDX-License-Identifier: BSD-2-Clause"

# Where code is; folders such as build-* and .git are not looked into.
FOLDERS = ("bench", "docs", "include", "src", "tests", "tools")

C_LINE = f"/* {IDENTIFIER} */"
SHELL_LINE = f"# {IDENTIFIER}"
LINES = {
    ".c": C_LINE,
    ".cc": C_LINE,
    ".h": C_LINE,
    ".map": C_LINE,
    ".py": SHELL_LINE,
    ".sh": SHELL_LINE,
}
NAMES = {
    "meson.build": SHELL_LINE,
    "meson_options.txt": SHELL_LINE,
    "session": SHELL_LINE,  # of the lab's guest, whose init starts it
}


def licence_line(path):
    """The line that a file must have, by its name or because it is a script. None if it is no code."""
    line = NAMES.get(path.name) or LINES.get(path.suffix)
    if line is None and first_lines(path, 1)[0].startswith("#!"):
        return SHELL_LINE
    return line


def first_lines(path, count):
    with open(path, encoding="utf-8", errors="replace") as file:
        return [file.readline().rstrip("\n") for _ in range(count)]


def has_line(path, line):
    """In the first line, or below that which names the interpreter."""
    first, second = first_lines(path, 2)
    return line == (second if first.startswith("#!") else first)


def code_files(root):
    """(path, its licence line) of all code below `root`."""
    paths = [path for path in root.iterdir() if path.is_file()]
    for folder in FOLDERS:
        for parent, folders, files in os.walk(root / folder):
            folders[:] = [name for name in folders if name != "__pycache__"]
            paths += (pathlib.Path(parent, name) for name in files)
    for path in sorted(paths):
        line = licence_line(path)
        if line:
            yield path, line


def missing(root):
    return [
        f"{path.relative_to(root)}: does not begin with {line}"
        for path, line in code_files(root)
        if not has_line(path, line)
    ]
