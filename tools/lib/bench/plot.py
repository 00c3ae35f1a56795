# SPDX-License-Identifier: BSD-2-Clause
"""Plots of results, by gnuplot: tools/bench plot RESULT.json... writes docs/plots/NAME.svg."""

import collections
import dataclasses
import json
import pathlib
import re
import statistics
import subprocess

from products import ROOT

from .say import say

FOLDER = ROOT / "docs" / "plots"
SIZE = (1000, 480)
MODES = {"plain": "plain verbs", "warm": "with warmverbs"}
SIMULATED = {"plain": "plain verbs", "spare": "lease and spare", "pair": "lease and pair"}
COLOURS = {"plain": "#c05020", "warm": "#2060c0", "spare": "#208040", "pair": "#2060c0"}
# How a function starts, in words: "warm" would be confused with the mode of that name.
WAYS = {"cold": "new program", "warm": "kept process", "fork": "forked child"}
SETTINGS = ("copy-on-fork", "madvise")
WORKLOADS = {"few": "to few", "churn": "anywhere"}
SUFFIX = re.compile(r"_([ab])$")


@dataclasses.dataclass(frozen=True)
class Series:
    title: str
    points: list
    mode: str  # the colour
    dash: int  # 1: a solid line


@dataclasses.dataclass(frozen=True)
class Panel:
    title: str
    x: str
    y: str
    series: list
    over_time: bool = False  # many points, on linear scales
    logarithmic: str = "xy"  # axes


def by_model(result):
    """{suffix of the stand-in's model, or "": rows}"""
    groups = collections.defaultdict(list)
    for row in result["rows"]:
        found = SUFFIX.search(row["name"])
        groups[found[0] if found else ""].append(row)
    return groups


def functions(rows):
    ways = collections.defaultdict(list)
    for row in rows:
        way, at_a_time = row["name"].split("_")[:2]
        ways[way].append((int(at_a_time), row))

    def panel(title, y, value):
        series = [
            Series(
                f"{WAYS[way]}, {words}",
                [(n, value(row, mode)) for n, row in ways[way]],
                mode,
                dash,
            )
            for dash, way in enumerate(ways, 1)
            for mode, words in MODES.items()
        ]
        return Panel(title, "requests at a time", y, series)

    return [
        panel("Throughput", "requests per second", lambda row, mode: row[mode]),
        panel("Latency, median", "ms", lambda row, mode: row["detail"][mode]["latency_p50"] / 1000),
    ]


def forkstorm(rows):
    def series(time, x, fixed):
        of = [row for row in rows if row["name"].startswith(time) and all(row[key] == fixed[key] for key in fixed)]
        return [
            Series(
                f"{setting}, {words}",
                [(row[x], row[mode] / 1000) for row in of if row["setting"] == setting],
                mode,
                dash,
            )
            for dash, setting in enumerate(SETTINGS, 1)
            for mode, words in MODES.items()
        ]

    return [
        Panel("fork(), one child", "MB registered in the parent", "ms", series("fork", "megabytes", {"children": 1})),
        Panel(
            "To a child's first completion, 1 MB registered",
            "children at once",
            "ms, median",
            series("first_completion", "children", {"megabytes": 1}),
        ),
    ]


def both_modes(points):
    """`points` are (x, row of a result, or what takes its place)."""
    return [Series(words, [(x, each[mode]) for x, each in points], mode, 1) for mode, words in MODES.items()]


def accept(rows):
    points = [(int(row["name"].split("_")[1]), row) for row in rows]
    lived = [(n, {mode: row["detail"][mode]["client"]["lived"] / 1000 for mode in MODES}) for n, row in points]
    x = "clients at a time"
    return [
        Panel("Connections of one server", x, "per second", both_modes(points)),
        Panel("A client, from its start to its end", x, "ms, median", both_modes(lived)),
    ]


def transfer(rows):
    lists = [(row["bytes"], row) for row in rows]
    return [Panel("From the start of two functions to their end", "bytes handed over", "us", both_modes(lists))]


def mesh(rows):
    lists = [(row["processes"], row) for row in rows]
    return [Panel("From the start to a message on each connection", "processes", "ms", both_modes(lists))]


def kvs(rows):
    def panel(row):
        series = [Series(words, row["over_time"][mode], mode, 1) for mode, words in MODES.items()]
        return Panel(f"{row['joining']} join", "ms since they were started", "look-ups per second", series, True)

    return [panel(row) for row in rows if "over_time" in row]


def simulation_scale(rows):
    def series(figure):
        return [
            Series(
                f"{WORKLOADS[workload]}, {words}",
                [(row["nodes"], row[mode][figure] / 1000) for row in rows if row["workload"] == workload],
                mode,
                dash,
            )
            for dash, workload in enumerate(WORKLOADS, 1)
            for mode, words in SIMULATED.items()
        ]

    return [
        Panel("Open to the first byte, mean", "nodes", "ms", series("mean")),
        Panel("99th percentile", "nodes", "ms", series("p99")),
    ]


def simulation_payoff(rows):
    """One panel: what a connection costs, by how long a pair waits, for each share of programs that use it."""
    kept = [row for row in rows if row["kept"] != "rule"]
    shares = sorted({row["share"] for row in kept}, reverse=True)
    xs = sorted({row["kept"] for row in kept})
    series = [
        Series(
            f"{share:.0%} go there",
            [(row["kept"], row["cost"]) for row in kept if row["share"] == share],
            "pair",
            dash,
        )
        for dash, share in enumerate(shares, 1)
    ]
    base = statistics.mean(row["base"] for row in kept)
    return [
        Panel(
            "Mean time to the first byte, and firmware time that pairs add",
            "how long a pair waits, in mean times between two uses of its edge",
            "us for each connection",
            [Series("no pairs", [(x, base) for x in xs], "spare", 1), *series],
            logarithmic="x",
        )
    ]


KINDS = {
    "accept": accept,
    "forkstorm": forkstorm,
    "functions": functions,
    "kvs": kvs,
    "mesh": mesh,
    "simulation-payoff": simulation_payoff,
    "simulation-scale": simulation_scale,
    "transfer": transfer,
}


def plot(files):
    for file in files:
        result = json.loads(pathlib.Path(file).read_text())
        panels = KINDS.get(result["bench"].removeprefix("standin-"))
        if not panels:
            say(f"there is no plot of {result['bench']}")
            continue
        for suffix, rows in by_model(result).items():
            bed = f"{result['bed']}, model {suffix[1:].upper()}" if suffix else result["bed"]
            draw(f"{result['bench']}{suffix}", bed, panels(rows))


def draw(name, bed, panels):
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.svg"
    subprocess.run(["gnuplot"], input=script(path, bed, panels), text=True, check=True)
    say(f"wrote {path.relative_to(ROOT)}")


def script(path, bed, panels):
    lines = [
        f"set terminal svg size {SIZE[0]},{SIZE[1]} font 'sans,12' background 'white'",
        f"set output '{path}'",
        f"set multiplot layout 1,{len(panels)} margins 0.1,0.98,0.28,0.86 spacing 0.1 title '{bed}'",
        "set grid",
        # One key for all panels, which have the same series: below the labels of the axes.
        "set key at screen 0.5,0.02 center bottom vertical maxrows 2",
    ]
    for number, panel in enumerate(panels):
        lines += panel_script(number, panel)
    return "\n".join([*lines, "unset multiplot"]) + "\n"


def panel_script(number, panel):
    xs = sorted({x for series in panel.series for x, _ in series.points})
    lines = [
        *(["unset key"] if number else []),
        f"set title '{quoted(panel.title)}'",
        f"set xlabel '{quoted(panel.x)}'",
        f"set ylabel '{quoted(panel.y)}'",
        *(linear(xs) if panel.over_time else logarithmic(xs, panel.logarithmic)),
    ]
    for index, series in enumerate(panel.series):
        points = "\n".join(f"{x} {y}" for x, y in series.points)
        lines += [f"$data{number}_{index} << END", points, "END"]
    curves = ", ".join(
        f"$data{number}_{index} with {'lines' if panel.over_time else f'linespoints pointtype {series.dash + 3}'}"
        f" dashtype {series.dash}"
        f" linecolor '{COLOURS[series.mode]}' title '{quoted(series.title)}'"
        for index, series in enumerate(panel.series)
    )
    return [*lines, f"plot {curves}"]


def linear(xs):
    return ["unset logscale", f"set xrange [{min(xs)}:{max(xs)}]", "set yrange [0:*]"]


def logarithmic(xs, axes):
    return [
        "unset logscale",
        f"set logscale {axes}",
        f"set xrange [{min(xs) * 0.8}:{max(xs) * 1.25}]",
        f"set xtics ({', '.join(map(str, xs))})",
    ]


def quoted(text):
    """Within gnuplot's single quotes."""
    return text.replace("'", "''")
