# SPDX-License-Identifier: BSD-2-Clause
"""Turns the output of programs into medians, ratios and a table."""

import statistics

COLUMNS = ("plain", "preload", "warm", "ratio")


def figures(text):
    """The "NAME VALUE" lines that the programs in bench/ print."""
    return {name: int(value) for name, value in (line.rsplit(maxsplit=1) for line in text.splitlines())}


def row(name, plain=None, preload=None, warm=None, **fields):
    """One row of a result, from lists of samples. The table shows the further fields note, unit and bed, JSON all."""
    medians = {"plain": median(plain), "preload": median(preload), "warm": median(warm)}
    ratio = medians["plain"] / medians["warm"] if medians["plain"] and medians["warm"] else None
    return {"name": name, **medians, "ratio": ratio and round(ratio, 3), **fields}


def median(samples):
    return round(statistics.median(samples), 3) if samples else None


def table(result):
    """A result as aligned text."""
    heading = f"{result['bench']}: {result['unit']}, medians of {result['runs']}, {result['bed']}"
    return "\n".join([heading, *aligned([("", *COLUMNS, ""), *(cells(each, result) for each in result["rows"])])])


def aligned(lines):
    """Lines of cells as text: names, right-aligned values, and a note."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join(align(line, widths)).rstrip() for line in lines]


def align(line, widths):
    name, *values, note = line
    return (name.ljust(widths[0]), *(value.rjust(width) for value, width in zip(values, widths[1:])), note)


def cells(each, result):
    others = [each[key] for key in ("unit", "bed") if each.get(key, result[key]) != result[key]]
    name = f"{each['name']} ({', '.join(others)})" if others else each["name"]
    values = [f"{each[key]:,.1f}" if each[key] is not None else "-" for key in ("plain", "preload", "warm")]
    ratio = f"{each['ratio']:.2f}" if each["ratio"] is not None else "-"
    return (name, *values, ratio, each.get("note", ""))
