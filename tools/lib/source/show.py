# SPDX-License-Identifier: BSD-2-Clause
"""What is shown rather than checked: the include graph, and the sizes of functions and files."""

import collections
import statistics

from . import graph
from .tree import Tree

SIZED = ("src", "bench", "tests")


def folder_graph(tree):
    return tree.graph(lambda file: file.folder)


def by_layer(edges):
    """[(layer, folders)], the highest first."""
    rows = collections.defaultdict(list)
    for folder, layer in graph.layers(edges).items():
        rows[layer].append(folder)
    return sorted(rows.items(), reverse=True)


def text(tree):
    edges = folder_graph(tree)
    in_circle = {folder: circle for circle in graph.circles(edges) for folder in circle}
    width = max(map(len, edges), default=0)
    lines = ["layer  folder, and which folders it includes headers of (*: in a circle with them)"]
    for layer, folders in by_layer(edges):
        for folder in sorted(folders):
            circle = in_circle.get(folder, ())
            targets = ", ".join(f"{target}{'*' if target in circle else ''}" for target in sorted(edges[folder]))
            lines.append(f"{layer:5}  {folder:{width}}  {targets}".rstrip())
    return "\n".join(lines)


def dot(tree):
    edges = folder_graph(tree)
    lines = ["digraph src {", "\tnode [shape=box];"]
    for _, folders in by_layer(edges):
        lines.append(f"\t{{ rank=same; {' '.join(quote(folder) + ';' for folder in sorted(folders))} }}")
    lines += (
        f"\t{quote(folder)} -> {quote(target)};" for folder in sorted(edges) for target in sorted(edges[folder])
    )
    return "\n".join([*lines, "}"])


def quote(name):
    return f'"{name}"'


def sizes(tree):
    lines = [f"{'lines of':22} {'number':>6} {'median':>6} {'p95':>6} {'largest':>7}"]
    for folder in SIZED:
        part = Tree(tree.root, folder)
        functions = [(f.lines, f"{file.path}: {f.name}()") for file in part.files for f in file.parsed.functions]
        lines += (
            size_row(f"{folder}: functions", functions),
            size_row(f"{folder}: C files", [file_size(file) for file in part.sources()]),
            size_row(f"{folder}: headers", [file_size(file) for file in part.headers()]),
        )
    return "\n".join(lines)


def file_size(file):
    return len(file.text.splitlines()), str(file.path)


def size_row(what, sized):
    if not sized:
        return f"{what:22} {0:6}"
    lines = sorted(size for size, _ in sized)
    p95 = lines[(len(lines) * 95 - 1) // 100]
    largest = max(sized)
    return f"{what:22} {len(lines):6} {statistics.median_low(lines):6} {p95:6} {largest[0]:7}  {largest[1]}"
