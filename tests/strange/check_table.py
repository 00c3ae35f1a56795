#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Each situation in the tables of docs/compatibility.md has a test, and each test of this folder its row: what a test's
docstring says is the first cell of its row.

    check_table.py PAGE FOLDER_OF_TESTS OTHER_FOLDER...

In the other folders there may be tests of rows, and other tests.
"""

import ast
import pathlib
import re
import sys


def situations(page):
    """The first cells of all rows of tables of situations, without the heads of the tables."""
    tables = re.findall(r"^\| situation \|.*\n\| ---.*\n((?:\| .*\n)*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [line.split("|")[1].strip() for rows in tables for line in rows.splitlines()]


def tested(folder):
    """What the docstrings of the tests say, on one line."""
    for path in sorted(folder.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield " ".join((ast.get_docstring(node) or f"{path.name}: {node.name}").split())


def main():
    page, folder, *others = map(pathlib.Path, sys.argv[1:])
    rows, tests = situations(page), set(tested(folder))
    elsewhere = {test for other in others for test in tested(other)}
    problems = [f"{page} has a row twice: {row}" for row in sorted(set(rows)) if rows.count(row) > 1]
    problems += [f"{page} has a row without a test: {row}" for row in sorted(set(rows) - tests - elsewhere)]
    problems += [f"a test names no row of {page}: {test}" for test in sorted(tests - set(rows))]
    print("\n".join(problems) or f"{len(rows)} situations, each with a test")
    return bool(problems or not rows)


if __name__ == "__main__":
    sys.exit(main())
