#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether the public header is what was recorded: its declarations, the values of its enums, the layout of its structs.

usage: check_api.py [--record] HEADER RECORD COMPILER...

A change that is meant is recorded with --record, and goes into NEWS.md.
"""

import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
CONDITIONAL = re.compile(r"^#ifdef __cplusplus$.*?^#endif$", re.DOTALL | re.MULTILINE)
DIRECTIVE = re.compile(r"^#.*$", re.MULTILINE)
MACRO = re.compile(r"^#define (?!WARMVERBS_H$).*$", re.MULTILINE)
ENUM = re.compile(r"enum \w+ \{([^}]*)\};")
STRUCT = re.compile(r"struct (\w+) \{([^}]*)\};")


def declarations(text):
    """Macros and declarations, one on each line, without comments."""
    code = CONDITIONAL.sub("", COMMENT.sub("", text))
    words = " ".join(DIRECTIVE.sub("", code).split())
    return MACRO.findall(code) + re.findall(r"[^;{}]+(?:\{[^}]*\})?;", words)


def printers(lines):
    """C statements that print the value of each enumerator, and the place of each member."""
    for line in lines:
        enum, struct = ENUM.search(line), STRUCT.search(line)
        if enum:
            for name in re.findall(r"\w+", enum[1]):
                yield f'printf("{name} = %d\\n", (int){name});'
        elif struct:
            yield f'printf("struct {struct[1]}: %zu bytes\\n", sizeof(struct {struct[1]}));'
            for member in re.findall(r"(\w+);", struct[2]):
                place = f"offsetof(struct {struct[1]}, {member}), sizeof(((struct {struct[1]} *)0)->{member})"
                yield f'printf("struct {struct[1]}.{member}: at %zu, %zu bytes\\n", {place});'


def run_printers(header, lines, compiler):
    source = "\n".join([f'#include "{header}"', "#include <stdio.h>", "int main(void) {", *printers(lines), "}"])
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program")
        command = [*compiler, "-x", "c", "-", "-o", program]
        subprocess.run(command, input=source, text=True, check=True)
        return subprocess.run(program, capture_output=True, text=True, check=True).stdout.splitlines()


def describe(header, compiler):
    lines = [line.strip() for line in declarations(header.read_text())]
    return [*lines, *run_printers(header, lines, compiler)]


def main():
    arguments = sys.argv[1:]
    recording = arguments[:1] == ["--record"]
    header, record, *compiler = arguments[recording:]
    header, record = pathlib.Path(header).resolve(), pathlib.Path(record)
    now = describe(header, compiler)
    if recording:
        record.write_text("\n".join(now) + "\n")
        return 0
    difference = list(difflib.unified_diff(record.read_text().splitlines(), now, "recorded", "now", lineterm="", n=0))
    if difference:
        print("\n".join(difference))
        print(f"The public header has changed. If that is meant: {sys.argv[0]} --record {header} {record} cc")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
