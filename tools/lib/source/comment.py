# SPDX-License-Identifier: BSD-2-Clause
"""The form of C comments, which no formatter holds: one that fills comments anew spoils tables and lists in them."""

import re

from . import c, licence

WIDTH = 100  # ColumnLimit of .clang-format
TAB = 8
SUFFIXES = (".c", ".h")
ONE_LINE = re.compile(r"/\* .*\S \*/")
OPENING = re.compile(r"/\*\*?")
CONTINUED = re.compile(r" +\*(?:[ \t].*\S)?")
END = re.compile(r" +\*/")


def columns(text):
    return len(text.expandtabs(TAB))


def faults(before, lines):
    """(index of the line, what is wrong) of a comment; @before: what stands left of its first line."""
    first, *rest = lines
    for i, line in enumerate([before + first, *rest]):
        if columns(line) > WIDTH:
            yield i, f"{columns(line)} columns wide"
    if first.startswith("//"):
        yield 0, "not between /* and */"
    elif not rest and not ONE_LINE.fullmatch(first):
        yield 0, "a space is missing"
    if not rest:
        return
    stands_alone = not before.strip()
    if stands_alone and not OPENING.fullmatch(first):
        yield 0, "text beside the /* of several lines"
    for i, line in enumerate(rest, 1):
        text = line.expandtabs(TAB)
        is_end = stands_alone and i == len(rest)
        if not (END if is_end else CONTINUED).fullmatch(text) or text.index("*") != columns(before) + 1:
            yield i, "no */ by itself below the first *" if is_end else "no * below the first one"


def in_text(text):
    """(number of the line, what is wrong)"""
    lines = text.split("\n")
    for match in c.COMMENT_OR_LITERAL.finditer(text):
        comment = match.group()
        if comment[0] == "/":
            number = text.count("\n", 0, match.start())
            before = lines[number][: match.start() - text.rfind("\n", 0, match.start()) - 1]
            for i, fault in faults(before, comment.split("\n")):
                yield number + i + 1, fault


def malformed(root):
    return [
        f"{path.relative_to(root)}:{number}: {fault}"
        for path, _ in licence.code_files(root)
        if path.suffix in SUFFIXES
        for number, fault in in_text(path.read_text())
    ]
