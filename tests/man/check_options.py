#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the options that a program's --help prints with those that its man page explains, both ways.

    check_options.py PROGRAM PAGE.scd [COMMAND...]

Each COMMAND is asked for by `PROGRAM help COMMAND`, and has a subsection of its own in the page, where its options are;
those that the program knows without a command are in the section OPTIONS.
"""
import re
import subprocess
import sys

# In help text: "  -?, --help", "      --socket=PATH  Socket of ...", "  -c, --config=FILE". One blank may follow a value.
IN_HELP = re.compile(r"^ +(-\S,? )?(--[\w-]+=\S+(?= |$)|(?:--[\w-]+|-\w)(?=  |$))", re.M)
# In a page: "*-?*, *--help*", "*--socket*=_PATH_"; an option has a line of its own.
IN_PAGE = re.compile(r"^(?:\*-\S\*, )?\*(--?[\w-]+)\*(?:=_(\w+)_)?$", re.M)


def options_of_help(program, *command):
    text = subprocess.run([program, *command], check=True, capture_output=True, text=True).stdout
    return {match[2] for match in IN_HELP.finditer(text)}


def options_of_text(text):
    return {name + (f"={value}" if value else "") for name, value in IN_PAGE.findall(text)}


def part(page, heading):
    """What stands under the heading, down to the next one."""
    found = re.search(rf"^{re.escape(heading)}$(.*?)(?=^#|\Z)", page, re.M | re.S)
    return found[1] if found else ""


def compare(what, in_help, in_page):
    for option in sorted(in_help - in_page):
        yield f"{what}: the man page does not have {option}"
    for option in sorted(in_page - in_help):
        yield f"{what}: --help does not have {option}"


def check(program, page, commands):
    general = options_of_help(program, "--help")
    if not general:
        yield f"{program} --help prints no option"
    yield from compare(program, general, options_of_text(part(page, "# OPTIONS")))
    for command in commands:
        own = options_of_help(program, "help", command) - general
        yield from compare(f"{program} {command}", own, options_of_text(part(page, f"## {command}")))
    if set(commands) != set(re.findall(r"^## (\w+)$", page, re.M)) - {"help"}:
        yield f"the page's commands are not {', '.join(commands)}"


def main(program, page, *commands):
    with open(page, encoding="utf-8") as file:
        problems = list(check(program, file.read(), commands))
    print("\n".join(problems) or "help and man page agree")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
