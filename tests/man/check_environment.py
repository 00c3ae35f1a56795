#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the environment variables that the sources use with those in the section ENVIRONMENT of a man page.

    check_environment.py PAGE.scd SOURCE_FOLDER [--but FOLDER]
"""
import argparse
import pathlib
import re
import sys

# Names of our own, however they are used, and everything that is read.
IN_SOURCE = re.compile(r'"(WARMVERBS_[A-Z_]+)"|getenv\("(\w+)"\)')
IN_PAGE = re.compile(r"^(?:\*\w+\*, )*\*\w+\*$", re.M)
# Read as every program does, or set by the init system: of no use to say.
USUAL = {"PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "JOURNAL_STREAM", "STATE_DIRECTORY", "CREDENTIALS_DIRECTORY", "XDG_RUNTIME_DIR",
         "container"}


def variables_of_sources(folder, but):
    paths = [path for path in folder.rglob("*.[ch]") if but is None or but not in path.parents]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return {own or other for text in texts for own, other in IN_SOURCE.findall(text)} - USUAL


def variables_of_page(page):
    section = re.search(r"^# ENVIRONMENT$(.*?)^# ", page, re.M | re.S)[1]
    return {name for line in IN_PAGE.findall(section) for name in re.findall(r"\w+", line)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--but", type=pathlib.Path)
    args = parser.parse_args()
    page = args.page
    in_sources = variables_of_sources(args.folder, args.but)
    in_page = variables_of_page(page.read_text(encoding="utf-8"))
    problems = [f"{page} does not have {name}" for name in sorted(in_sources - in_page)]
    problems += [f"nothing reads {name}, which {page} has" for name in sorted(in_page - in_sources)]
    print("\n".join(problems) or "sources and man page agree")
    return bool(problems or not in_sources)


if __name__ == "__main__":
    sys.exit(main())
