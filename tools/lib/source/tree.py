# SPDX-License-Identifier: BSD-2-Clause
"""The files of src, and who includes whom."""

import dataclasses
import functools
import pathlib
import re

from . import c

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class File:
    """One C file or header; `path` is relative to src."""

    path: pathlib.PurePosixPath
    text: str

    @property
    def folder(self):
        return str(self.path.parent)

    @property
    def module(self):
        """A C file and its header are one module."""
        return str(self.path.with_suffix(""))

    @property
    def is_header(self):
        return self.path.suffix == ".h"

    @functools.cached_property
    def parsed(self):
        return c.parse(self.text)


class Tree:
    """The C code below one folder, by default src."""

    def __init__(self, root, folder="src"):
        self.root = root
        self.base = root / folder
        paths = sorted(path for path in self.base.rglob("*") if path.suffix in (".c", ".h"))
        self.files = [File(pathlib.PurePosixPath(path.relative_to(self.base)), path.read_text()) for path in paths]

    def everything(self):
        """All files, C or not, relative to src."""
        return sorted(path.relative_to(self.base) for path in self.base.rglob("*") if path.is_file())

    def headers(self):
        return [file for file in self.files if file.is_header]

    def sources(self):
        return [file for file in self.files if not file.is_header]

    @functools.cached_property
    def includes(self):
        """Pairs (file, included header), both of this tree."""
        by_path = {str(file.path): file for file in self.files}
        pairs = []
        for file in self.files:
            for name in INCLUDE.findall(file.text):
                target = by_path.get(name) or by_path.get(str(file.path.parent / name))
                if target:
                    pairs.append((file, target))
        return pairs

    def graph(self, node_of, of_files=lambda file: True):
        """Who includes whom, of nodes such as folders or modules. A node's includes of its own do not count."""
        graph = {node_of(file): set() for file in self.files if of_files(file)}
        for file, target in self.includes:
            if of_files(file) and of_files(target) and node_of(file) != node_of(target):
                graph[node_of(file)].add(node_of(target))
        return graph

    def evidence(self, node_of, source, target):
        """The includes that make the step from one node to another."""
        return [
            f"{file.path} includes {header.path}"
            for file, header in self.includes
            if node_of(file) == source and node_of(header) == target
        ]
