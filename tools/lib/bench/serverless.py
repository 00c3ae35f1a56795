# SPDX-License-Identifier: BSD-2-Clause
"""Functions behind a real web server (gateway.py), and a real client that asks for them: requests per second and how
long a request takes, from end to end."""

import csv
import pathlib
import re
import tempfile

import session

from . import functions, needed, warm
from .gateway import gateway
from .results import row
from .say import say

MODES = ("plain", "warm")
# Path and requests of each way. An empty container shows what the gateway and the container take.
WAYS = {"empty": ("empty.cgi", 60), "cold": ("cold.cgi", 60), "kept": ("kept", 400), "fork": ("fork", 100)}
AT_A_TIME = (1, 4)
TOOLS = {"ab": "apache2-utils", "crun": "crun", "lighttpd": "lighttpd"}  # and their packages
FIRST = 4  # requests that are not counted, from which the daemon learns
SETS = 8
PERCENTILES = (50, 99)
RATE = re.compile(r"^Requests per second: +([\d.]+)", re.MULTILINE)
FAILED = re.compile(r"^(?:Failed requests|Non-2xx responses): +([1-9]\d*)", re.MULTILINE)


def measure(products, runs):
    handler = products.bench("functions/handler")
    needed.check(TOOLS, [] if handler.exists() else ["libfcgi-dev"])
    with warm.node(products, [handler]) as node, functions.server(node) as port:
        samples = {(way, n): {mode: [] for mode in MODES} for way in WAYS for n in AT_A_TIME}
        for run in range(runs):
            for mode in MODES:
                with gateway(handler, port, environments(node, mode)) as url:
                    one_run(node, url, mode, samples)
            say(f"run {run + 1} of {runs}")
        return [rated(f"{way}_{n}", each) for (way, n), each in samples.items()]


def environments(node, mode):
    extra = {"fork": {"WARMVERBS_PREFORK": SETS}} if mode == "warm" else {}
    return {way: node.environment(mode, **extra.get(way, {})) for way in WAYS}


def one_run(node, url, mode, samples):
    for way, (path, requests) in WAYS.items():
        for _ in range(FIRST):
            ask(node, f"{url}/{path}", 1, 1)
            node.settle()
        for n in AT_A_TIME:
            node.settle()
            samples[way, n][mode].append(ask(node, f"{url}/{path}", n, requests))


def ask(node, url, at_a_time, requests):
    """What ab (of Apache's httpd) says: requests per second, and percentiles in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        served = pathlib.Path(folder, "served.csv")
        said = node.run(["ab", "-q", "-c", at_a_time, "-n", requests, "-e", served, url], "plain")
        if FAILED.search(said):
            raise session.SessionError(f"{url}: requests failed:\n{said}")
        rows = list(csv.reader(served.read_text().splitlines()))[1:]
    times = {int(percent): float(milliseconds) for percent, milliseconds in rows}
    return {"rate": float(RATE.search(said)[1]), **{part: times[part] for part in PERCENTILES}}


def rated(name, samples):
    """Requests per second. More is better, so the ratio is warm : plain."""
    each = row(name, **{mode: [sample["rate"] for sample in samples[mode]] for mode in MODES})
    latency = {
        mode: {f"p{part}": row(name, plain=[sample[part] for sample in samples[mode]])["plain"] for part in PERCENTILES}
        for mode in MODES
    }
    note = " -> ".join("/".join(f"{value:.3g}" for value in latency[mode].values()) + " ms" for mode in MODES)
    return {**each, "ratio": round(each["warm"] / each["plain"], 3), "note": note, "latency_ms": latency}
