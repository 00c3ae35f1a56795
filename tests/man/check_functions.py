#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the public functions and values: those declared, those explained, those exported.

    check_functions.py PAGE.scd HEADER.h LIBRARY.map
"""
import pathlib
import re
import sys


def body(text, opening, closing):
    found = re.search(rf"{opening}(.*?){closing}", text, re.S)
    return found[1] if found else ""


def compare(what, expected, found, where):
    yield from (f"{where} does not have {what} {name}" for name in sorted(expected - found))
    yield from (f"only {where} has {what} {name}" for name in sorted(found - expected))


def check(page, header, symbols):
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    functions = set(re.findall(r"\b(wv_\w+)\(", code))
    if not functions:
        yield "the header declares nothing"
    yield from compare("function", functions, set(re.findall(r"\b(wv_\w+);", symbols)), "the map")
    synopsis = body(page, "\n# SYNOPSIS\n", "\n# ")
    name = body(page, "# NAME", " - ")
    yield from compare("function", functions, set(re.findall(r"\b(wv_\w+)\(", synopsis)), "SYNOPSIS")
    yield from compare("function", functions, set(re.findall(r"\bwv_\w+", name)), "NAME")
    values = set(re.findall(r"\bWV_[A-Z_]+\b", code)) - {"WV_H"}
    yield from compare("value", values, set(re.findall(r"\bWV_[A-Z_]+\b", page)), "the page")
    members = set(re.findall(r"\buint\d+_t (\w+);", code))
    yield from (f"the page does not have member {member}" for member in sorted(members)
                if not re.search(rf"\b_{member}_(?!\w)", page))


def main():
    problems = list(check(*(pathlib.Path(path).read_text(encoding="utf-8") for path in sys.argv[1:])))
    print("\n".join(problems) or "header, map and man page agree")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
