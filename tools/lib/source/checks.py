# SPDX-License-Identifier: BSD-2-Clause
"""The checks: each takes a Tree and returns its findings as lines of text."""

import collections
import pathlib

from . import comment, graph, licence

MAX_FUNCTION_LINES = 40
MAX_FILE_LINES = 400
TABLES = "_rows.h"  # what the name of a file of rows ends with: as long as its subject

# Words of single providers, and where they may stand.
PROVIDERS = ("mlx5", "rxe", "siw")
PROVIDER_FOLDERS = ("abi", "preload/mlx5", "preload/rxe")
PROVIDER_EXCEPTIONS = {
    "meson.build": "lists the files of the providers' folders",
    "preload/meson.build": "lists the files of the providers' folders",
    "preload/providers.c": "the one list of the providers' folders",
    "preload/libwarmverbs.map": "version nodes of libmlx5's functions, which are interposed",
}

# Files that take the place of others in some builds, and so define the same functions.
INSTEAD = {
    "daemon/without_pairs.c": "a build without pairs and peers",
    "preload/pairs/without_pairs.c": "the same",
}

# Names of files, functions and variables that are the same thing wherever they occur.
SAME_THING = {
    "argp_program_version": "what argp prints for --version, one for each program",
    "main": "where a program starts",
    "meson": "the build of a folder",
    "without_pairs": "what a build without pairs and peers has instead",
}


def circles(tree):
    """No circle of includes between folders or between headers, direct or over others."""
    return [
        *describe_circles(tree, "folders", lambda file: file.folder),
        *describe_circles(tree, "headers", lambda file: str(file.path), lambda file: file.is_header),
    ]


def modules(tree):
    """No circle between modules (a C file and its header) of one folder: neither knows who uses it."""
    with_code = {file.module for file in tree.sources()}
    found = []
    for folder in sorted({file.folder for file in tree.files}):
        found += describe_circles(
            tree,
            "modules",
            lambda file: file.module,
            lambda file, folder=folder: file.folder == folder,
            # A header without a C file, such as one of rows, may be a part of the module that includes it.
            lambda circle: len(circle & with_code) > 1,
        )
    return found


def describe_circles(tree, what, node_of, of_files=lambda file: True, counts=lambda circle: True):
    found = []
    edges = tree.graph(node_of, of_files)
    for circle in filter(counts, graph.circles(edges)):
        found.append(f"circle of {what}: {', '.join(sorted(circle))}")
        for source in sorted(circle):
            for target in sorted(edges[source] & circle):
                found += (f"    {line}" for line in tree.evidence(node_of, source, target))
    return found


def providers(tree):
    """No provider's name outside src/abi and the providers' own folders, neither in code nor in comments."""
    found = []
    for path in tree.everything():
        if path.as_posix() in PROVIDER_EXCEPTIONS or is_below(path, PROVIDER_FOLDERS):
            continue
        for number, line in enumerate((tree.base / path).read_text().splitlines(), 1):
            if any(word in line.lower() for word in PROVIDERS):
                found.append(f"{path}:{number}: {line.strip()}")
    return found


def is_below(path, folders):
    return any(pathlib.PurePosixPath(folder) in path.parents for folder in folders)


def names(tree):
    """No basename twice in src, of a C file or a header, and no function or variable that two C files define."""
    folders = collections.defaultdict(set)
    for path in tree.everything():
        folders[path.stem].add(path.parent.as_posix())
    defined = {name: {str(file.path) for file in files} for name, files in definers(tree).items()}
    return [
        f"{name}: in {', '.join(sorted(where))}"
        for name, where in [*sorted(folders.items()), *sorted(defined.items())]
        if len(where) > 1 and name not in SAME_THING
    ]


def headers(tree):
    """Each header serves the C file of its name and no other; each C file with an interface has such a header."""
    definer = definers(tree)
    paths = {file.path for file in tree.files}
    found = []
    for header in tree.headers():
        own = header.path.with_suffix(".c")
        owners = {owner(definer[name], header.folder) for name in header.parsed.declared if name in definer}
        if owners - {own}:
            found.append(f"{header.path}: serves {', '.join(sorted(map(str, owners)))}")
        elif header.parsed.declared and own not in paths:
            found.append(f"{header.path}: serves no C file, but declares {', '.join(sorted(header.parsed.declared))}")
    return found + undeclared(tree)


def owner(files, folder):
    """Which of the files that define one name is meant in this folder."""
    return next((file.path for file in files if file.folder == folder), files[0].path)


def definers(tree):
    """{function or variable: the C files that define it}"""
    definer = collections.defaultdict(list)
    for file in tree.sources():
        if file.path.as_posix() in INSTEAD:
            continue
        functions = {function.name for function in file.parsed.functions if "static" not in function.words}
        for name in functions | file.parsed.variables:
            definer[name].append(file)
    return definer


def undeclared(tree):
    declared = {name for header in tree.headers() for name in header.parsed.declared}
    return [
        f"{file.path}:{function.line}: {function.name}() is in no header, and not static"
        for file in tree.sources()
        for function in file.parsed.functions
        if function.is_interface and function.name not in declared
    ]


def lengths(tree):
    """No function over 40 lines, no file over 400 but tables (*_rows.h)."""
    found = []
    for file in tree.files:
        lines = len(file.text.splitlines())
        if lines > MAX_FILE_LINES and not file.path.name.endswith(TABLES):
            found.append(f"{file.path}: {lines} lines")
        for function in file.parsed.functions:
            if function.lines > MAX_FUNCTION_LINES:
                found.append(f"{file.path}:{function.line}: {function.name}() has {function.lines} lines")
    return found


def spdx(tree):
    """Every source, header, script and build file of the repository begins with its licence."""
    return licence.missing(tree.root)


def comments(tree):
    """No C comment of the repository is wider than code, or has another form than the others."""
    return comment.malformed(tree.root)


ALL = {check.__name__: check for check in (circles, modules, providers, names, headers, lengths, spdx, comments)}
