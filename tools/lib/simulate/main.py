# SPDX-License-Identifier: BSD-2-Clause
"""The command line of tools/simulate."""

import argparse
import gc
import json
import subprocess
import sys

DESCRIPTION = """\
Simulates clusters of up to 10,000 nodes with warmverbs on each: programs that start and connect, leases, spares, pairs
(queue pairs of two nodes that are connected before a program asks), and the connections between daemons. Times of
firmware commands are those of the stand-in's models (tests/standin/models): a model of an mlx5 adapter, not an adapter.
docs/scale.md has the results and what they do not show.

Without NAME, lists the questions that can be simulated.
"""

EPILOG = """\
The same seed gives the same result. Progress goes to stderr. `tools/bench plot RESULT...` draws the JSON of scale and
payoff.

Exit status: 0; 1 if something could not be measured; 2 for wrong usage; 77 if SimPy is missing.
"""

NEEDED = "needs SimPy 3 or later: apt-get install python3-simpy3"
SKIPPED = 77
QUESTIONS = {
    "scale": "10 to 10,000 nodes: time to the first byte, pairs, connections of daemons (an hour or two; see --nodes)",
    "payoff": "when pairs pay: how likely an edge must be, how long a pair must wait",
    "rule": "the rule for pairs against fixed choices",
    "room": "how many pairs a node should have at most",
    "guess": "servers that must guess which pair a connection belongs to",
    "costs": "prints all constants, with their sources",
    "tls": "measures what a TLS connection takes on this machine",
}
COLUMNS = {
    "scale": ("starts", "plain.p50", "spare.p50", "pair.p50", "plain.p99", "spare.p99", "pair.p99", "hit_rate",
              "miss_rate", "net", "pairs_mean", "pairs_most", "peers_mean", "peers_most", "bytes_per_node_second"),
    "payoff": ("base", "saved", "added", "net", "hit_rate", "miss_rate", "expired"),
    "rule": ("mean", "rule.saved", "rule.added", "rule.net", "best.net", "worst.net", "behind_best", "best.policy",
             "worst.policy"),
    "room": ("saved", "added", "net", "hit_rate", "refused", "pairs_most", "pairs_most_bytes"),
    "guess": ("mean", "p99", "saved", "added", "net", "hit_rate", "miss_rate"),
}


def say(message):
    print(f"simulate: {message}", file=sys.stderr, flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/simulate", description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", choices=QUESTIONS, metavar="NAME", help="the question")
    parser.add_argument("--nodes", type=sizes, metavar="N,...", help="numbers of nodes (default: 10,100,1000,10000)")
    parser.add_argument("--model", choices=("a", "b"), help="of firmware times (default: both)")
    parser.add_argument("--workload", choices=("few", "shuffle", "churn", "sticky", "spread"),
                        help="of scale and rule (default: all that matter)")
    parser.add_argument("--seconds", type=float, metavar="S", help="scale, room: warm up, then count for so long each")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of all that is random (default: %(default)s)")
    parser.add_argument("--short", action="store_true", help="few nodes and little time, to see that it works")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    return parser.parse_args(arguments)


def sizes(text):
    found = tuple(int(word) for word in text.split(","))
    if min(found) < 2:
        raise argparse.ArgumentTypeError("a cluster has at least 2 nodes")
    return found


def listing():
    width = max(map(len, QUESTIONS))
    return "\n".join(f"{name:<{width}}  {summary}" for name, summary in QUESTIONS.items())


def print_costs(options):
    from . import costs

    print(costs.as_json() if options.json else costs.table())
    return 0


def print_tls(_options):
    from . import tls

    try:
        print(json.dumps(tls.measure(), indent=2))
    except (OSError, subprocess.CalledProcessError) as error:
        say(f"TLS could not be measured: {error}")
        return 1
    return 0


def ask(options):
    try:
        from . import studies
    except ModuleNotFoundError as error:
        if error.name != "simpy":
            raise
        say(NEEDED)
        return SKIPPED
    given = {"models": options.model and (options.model,), "sizes": options.nodes,
             "workloads": options.workload and (options.workload,), "seconds": options.seconds}
    if options.short:
        given["sizes"] = options.nodes or studies.SHORT_SIZES
    chosen = studies.Options(seed=options.seed, short=options.short,
                             **{name: value for name, value in given.items() if value})
    gc.disable()  # Hardly anything refers to itself in a circle, and looking for it takes a quarter of the time.
    rows = []
    for row in studies.ALL[options.name](chosen):
        say(row["name"])
        rows.append(row)
    result = {"bench": f"simulation-{options.name}", "unit": "us", "bed": "simulation", "seed": options.seed,
              "rows": rows}
    print(json.dumps(result, indent=2) if options.json else table(options.name, rows))
    return 0


def cell(row, path):
    value = row
    for word in path.split("."):
        value = value[word]
    return f"{value:,g}" if isinstance(value, int | float) else value


def table(name, rows):
    """Rows as aligned text."""
    columns = COLUMNS[name]
    lines = [("", *columns)] + [(row["name"], *(cell(row, each) for each in columns)) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(value.rjust(width) for value, width in zip(line[1:], widths[1:]))])
        for line in lines
    )


OTHERS = {"costs": print_costs, "tls": print_tls}


def main(arguments=None):
    options = parse(arguments)
    if not options.name:
        print(listing())
        return 0
    return OTHERS.get(options.name, ask)(options)
