# SPDX-License-Identifier: BSD-2-Clause
"""Enough of C to know functions and their lengths. Relies on balanced braces outside the preprocessor's lines."""

import dataclasses
import re

COMMENT_OR_LITERAL = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
FUNCTION = re.compile(r"(\w+)\s*\((?!\s*\*)")
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^]]*\]\s*)*$")
TYPE = re.compile(r"\s*(struct|union|enum)\s*\w*\s*")
MACRO = re.compile(r"[A-Z][A-Z0-9_]*")
NOT_FUNCTIONS = {"static_assert", "_Static_assert", "typeof", "__typeof__", "alignas", "_Alignas"}


@dataclasses.dataclass(frozen=True)
class Function:
    """One function with its body; `lines` is from the first line of its head to the closing brace."""

    name: str
    line: int
    lines: int
    words: frozenset

    @property
    def is_interface(self):
        """Whether other C files of the tree may call it: those exported to programs have headers elsewhere."""
        return not self.words & {"static", "WV_PUBLIC"} and self.name != "main"


@dataclasses.dataclass(frozen=True)
class Parsed:
    """What stands at the top level of one file."""

    functions: list
    declared: set  # functions and extern variables
    variables: set  # defined, and not static


def blank(match):
    return "\n" * match.group().count("\n")


def code_only(text):
    """The code, line by line where it was: no comments, no literals, nothing of the preprocessor's."""

    def replace(match):
        return '""' if match.group()[0] in "\"'" else " " + blank(match)

    return PREPROCESSOR.sub(blank, COMMENT_OR_LITERAL.sub(replace, text))


def top_level(code):
    """Yields (head, first line, line of the closing brace or None) of each declaration and definition."""
    head, depth, line, first = "", 0, 1, 1
    for char in code:
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0 and is_function(head):
                yield head, first, line
                head = ""
        elif depth == 0 and char == ";":
            yield head, first, None
            head = ""
        elif depth == 0:
            if not head.strip():
                head, first = "", line
            head += char
        line += char == "\n"


def is_function(head):
    return function_name(head) is not None and "=" not in head


def function_name(head):
    match = FUNCTION.search(ATTRIBUTE.sub("", head))
    name = match.group(1) if match else ""
    return None if not name or name in NOT_FUNCTIONS or MACRO.fullmatch(name) else name


def variable_names(head):
    parts = (part.split("=")[0] for part in ATTRIBUTE.sub("", head).split(","))
    names = (VARIABLE.search(re.sub(r"\b[A-Z][A-Z0-9_]*\s*$", "", part).strip()) for part in parts)
    return {match.group(1) for match in names if match}


def parse(text):
    parsed = Parsed([], set(), set())
    for head, first, end in top_level(code_only(text)):
        words = frozenset(re.findall(r"\w+", head))
        name = function_name(head)
        if end:
            parsed.functions.append(Function(name, first, end - first + 1, words))
        elif words & {"typedef", "static"} or TYPE.fullmatch(head):
            continue
        elif name and "=" not in head:
            parsed.declared.add(name)
        elif "extern" in words:
            parsed.declared.update(variable_names(head))
        else:
            parsed.variables.update(variable_names(head))
    return parsed
