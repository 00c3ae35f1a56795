#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a library that is loaded into every process may contain.

usage: check_library.py LIBRARY EXPORTS ARCHIVE NAME...

ARCHIVE is the static library that it is made of; the linker redirects calls of NAME within the library (--wrap).
"""

import pathlib
import subprocess
import sys

POINTER = 8
# The compiler's own, and those that remember the argument vector and watch the first thread.
CONSTRUCTORS = 3


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def exports(library):
    names = [line.split()[2] for line in output("nm", "-D", "--defined-only", library)
             if line.split()[1] != "A"]
    return sorted(names)


def needed(library):
    return [line.split("[")[1].rstrip("]") for line in output("readelf", "-dW", library) if "(NEEDED)" in line]


def dynamic_tags(library):
    return [line.split("(")[1].split(")")[0] for line in output("readelf", "-dW", library) if "(" in line]


def constructors(library):
    for line in output("readelf", "-SW", library):
        fields = line.replace("[ ", "[").split()
        if len(fields) > 5 and fields[1] == ".init_array":
            return int(fields[5], 16) // POINTER
    return 0


def of_objects(archive, which):
    """{object: its external names}"""
    names = {}
    for line in output("nm", "-A", "--extern-only", which, archive):
        words = line.split()
        names.setdefault(words[0].rpartition(":")[0], set()).add(words[-1])
    return names


def called_in(archive, library):
    """What the objects of @archive that are in @library call and do not define."""
    linked = {line.split()[-1] for line in output("nm", "--defined-only", library)}
    defined = of_objects(archive, "--defined-only")
    called = of_objects(archive, "--undefined-only")
    return set().union(*(called.get(name, set()) for name in defined if defined[name] & linked))


def main():
    library, expected, archive = sys.argv[1], pathlib.Path(sys.argv[2]).read_text().split(), sys.argv[3]
    redirected = sys.argv[4:]
    wrong = []
    # Interposed functions take locks that their caller, this library, may hold.
    for name in sorted((called_in(archive, library) & set(expected)) - set(redirected)):
        wrong.append(f"it calls its own {name}(): add that to `wrapped` in src/preload/meson.build")
    for name in sorted(set(exports(library)) ^ set(expected)):
        wrong.append(f"{name} is {'missing' if name in expected else 'exported, but not expected'}")
    if set(needed(library)) - {"libc.so.6", "ld-linux-x86-64.so.2"}:
        wrong.append(f"it needs {needed(library)}, more than libc")
    if "TEXTREL" in dynamic_tags(library):
        wrong.append("it has text relocations")
    if constructors(library) > CONSTRUCTORS:
        wrong.append(f"it has {constructors(library)} constructors, not {CONSTRUCTORS}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
