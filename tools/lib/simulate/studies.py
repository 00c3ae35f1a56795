# SPDX-License-Identifier: BSD-2-Clause
"""The questions, each a function that runs simulations and returns rows."""

import dataclasses

from . import costs, workloads
from .cluster import PLAIN, READY, Cluster
from .policy import NO_PAIRS, RULE, SECOND, Policy

SIZES = (10, 100, 1000, 10000)
SHORT_SIZES = (10, 50)
MODES = {"plain": (PLAIN, NO_PAIRS), "spare": (READY, NO_PAIRS), "pair": (READY, RULE)}
# Seconds: a warm-up in which edges are learned, and the time that counts.
SPANS = {"few": (10, 10), "shuffle": (100, 60), "churn": (10, 10), "sticky": (10, 10), "spread": (10, 10)}
SHORT_SPANS = {"few": (5, 5), "shuffle": (20, 10), "churn": (3, 3), "sticky": (3, 3), "spread": (3, 3)}


@dataclasses.dataclass(frozen=True)
class Options:
    models: tuple = tuple(costs.MODELS)
    sizes: tuple = SIZES
    workloads: tuple = ()  # none: those of the question
    seed: int = 1
    short: bool = False
    seconds: float = 0  # instead of the times in SPANS

    def span(self, workload):
        """Seconds of warm-up, and those that count."""
        if self.seconds:
            return self.seconds, self.seconds
        return (SHORT_SPANS if self.short else SPANS)[workload]


def simulate(starts, model, policy, span, mode=READY, named=True):
    cluster = Cluster(costs.load(model), policy, mode, named)
    return cluster.run(starts, *span)


def times(tally):
    median, high = tally.percentiles(50, 99)
    n = max(1, len(tally.times))
    return {
        "mean": round(tally.mean_time(), 1),
        "p50": round(median, 1),
        "p99": round(high, 1),
        "firmware": round(tally.firmware() / n, 1),
    }


def gain(base, tally):
    """us for each start: time saved to the first byte, firmware time added by all adapters, and the difference."""
    n = max(1, len(base.times))
    saved = base.mean_time() - tally.mean_time()
    added = (tally.firmware() - base.firmware()) / n
    return {"saved": round(saved, 1), "added": round(added, 1), "net": round(saved - added, 1)}


def share(part, whole):
    return round(part / whole, 6) if whole else 0.0


def pairs(tally, nodes):
    count = tally.count
    return {
        "hit_rate": share(count["hits"], count["connections"]),
        "miss_rate": share(count["misses"], count["connections"]),
        "expired": share(count["expired"], count["prepared"]),
        "prepared_per_node_second": round(count["prepared"] / nodes / tally.seconds, 3),
        "refused": count["refused"],
        "pairs_mean": round(2 * tally.mean_pairs / nodes, 2),  # a pair has an end on two nodes
        "pairs_most": tally.most_pairs,
        "pairs_most_bytes": int(tally.most_pairs * costs.CONSTANTS["qp_bytes"].value),
        "pairs_most_of_device": share(tally.most_pairs, costs.CONSTANTS["device_qps"].value),
        "preparing_share": share(tally.spent["pair"] + tally.spent["put back"], nodes * tally.seconds * 1e6),
    }


def peers(tally, nodes):
    traffic = tally.traffic
    return {
        "peers_mean": round(2 * traffic["connections"] / nodes, 2),
        "peers_most": traffic["most_connections"],
        "peers_most_bytes": int(traffic["most_connections"] * costs.CONSTANTS["tls_bytes"].value),
        "bytes_per_node_second": round(2 * traffic["bytes"] / nodes / tally.seconds, 1),
        "handshakes": traffic["handshakes"],
        "handshakes_processor_share": share(
            2 * traffic["handshakes"] * costs.CONSTANTS["tls_handshake_cpu"].value, nodes * tally.seconds * 1e6
        ),
    }


PAYING = ("few", "shuffle", "churn", "sticky")  # for pairs


def scale(options):
    """Time to the first byte, pairs and connections of daemons, by workload and number of nodes."""
    for model in options.models:
        for workload in options.workloads or PAYING:
            for nodes in options.sizes:
                found = {
                    name: simulate(workloads.ALL[workload](nodes, options.seed), model, policy, options.span(workload),
                                   mode)
                    for name, (mode, policy) in MODES.items()
                }
                last = found["pair"]
                yield {
                    "name": f"{workload}_{nodes}_{model}",
                    "workload": workload,
                    "nodes": nodes,
                    "starts": len(last.times),
                    **{name: times(tally) for name, tally in found.items()},
                    **gain(found["spare"], last),
                    **pairs(last, nodes),
                    **peers(last, nodes),
                }


SHARES = (1.0, 0.9, 0.8, 0.7, 0.6)
KEPT = (0.5, 1, 2, 4, 8)
INTERVAL, EDGES = 10.0, 40


def payoff(options):
    """When pairs pay: edges used every 10 s on average, at random, by programs of which a share goes there; pairs are
    kept for so many of these intervals after the last use. The cost is the mean time to the first byte, and the
    firmware time that pairs add to both adapters. kept 0: no pairs."""
    span = (2 * INTERVAL, 4 * INTERVAL) if options.short else (6 * INTERVAL, 60 * INTERVAL)
    edges = 10 if options.short else EDGES
    for model in options.models:
        for part in SHARES:
            def run(policy, part=part, model=model):
                starts = workloads.edge(edges, options.seed, interval=INTERVAL, share=part)
                return simulate(starts, model, policy, span)

            base = run(NO_PAIRS)
            policies = {kept: Policy("fixed", per_edge=1, idle=kept * INTERVAL * SECOND) for kept in KEPT}
            policies["rule"] = RULE
            for kept, policy in policies.items():
                tally = run(policy)
                result = gain(base, tally)
                yield {
                    "name": f"share_{part:g}_kept_{kept}_{model}",
                    "share": part,
                    "kept": kept,
                    "base": round(base.mean_time(), 1),
                    "cost": round(base.mean_time() - result["net"], 1),
                    **result,
                    **pairs(tally, edges),
                }


# Fixed choices: pairs for each edge that was used twice, or also likely to be used next.
FIXED = tuple(
    Policy(f"{per_edge} for {idle} s{', likely' if window else ''}", per_edge, idle * SECOND, window=window,
           elsewhere=window // 4)
    for window in (0, 8) for per_edge in (1, 2, 4, 16) for idle in (5, 15, 60, 600)
)
RULE_SPANS = {"few": (30, 30), "shuffle": (80, 80), "churn": (30, 30), "sticky": (30, 30), "spread": (30, 30)}


def rule(options):
    """The rule against fixed choices: how many pairs an edge has, for how long, and whether it must be likely."""
    nodes = min(100, max(options.sizes))
    fixed = FIXED[::5] if options.short else FIXED
    spans = SHORT_SPANS if options.short else RULE_SPANS
    for model in options.models:
        for workload in options.workloads or workloads.ALL:
            def run(policy, workload=workload, model=model):
                return simulate(workloads.ALL[workload](nodes, options.seed), model, policy, spans[workload])

            base = run(NO_PAIRS)
            results = {policy.name: gain(base, run(policy)) for policy in fixed}
            best = max(results, key=lambda name: results[name]["net"])
            worst = min(results, key=lambda name: results[name]["net"])
            ruled = run(RULE)
            yield {
                "name": f"{workload}_{model}",
                "nodes": nodes,
                "mean": round(base.mean_time(), 1),
                "rule": gain(base, ruled),
                "best": {"policy": best, **results[best]},
                "worst": {"policy": worst, **results[worst]},
                "behind_best": round(results[best]["net"] - gain(base, ruled)["net"], 1),
                "fixed": results,
                **pairs(ruled, nodes),
            }


ROOMS = (16, 64, 256, 1024, 4096)


def room(options):
    """How many pairs a node may have: all-to-few with 1,000 nodes, where 4 servers have 1,000 edges each."""
    nodes = max(options.sizes) if options.short else 1000
    for model in options.models:
        def run(policy, model=model):
            return simulate(workloads.few(nodes, options.seed), model, policy, options.span("few"))

        base = run(NO_PAIRS)
        for per_node in ROOMS:
            tally = run(dataclasses.replace(RULE, per_node=per_node))
            yield {"name": f"room_{per_node}_{model}", "nodes": nodes, **gain(base, tally), **pairs(tally, nodes)}


RATES = (10, 30, 100, 200, 300, 500)
CLIENTS = 51


def guess(options):
    """Connections that name their pair (rdma_cm), and servers that must guess it, by connections a second of one
    server. The rule's limit of the rate is off."""
    span = (2, 4) if options.short else (20, 20)
    policy = dataclasses.replace(RULE, guess_rate=float("inf"))
    for model in options.models:
        for rate in RATES[:: 3 if options.short else 1]:
            def run(policy, named, rate=rate, model=model):
                starts = workloads.one_server(CLIENTS, options.seed, rate=rate)
                return simulate(starts, model, policy, span, named=named)

            base = run(NO_PAIRS, True)
            for named in (True, False):
                tally = run(policy, named)
                yield {
                    "name": f"{'named' if named else 'guessed'}_{rate}_{model}",
                    "rate": rate,
                    **times(tally),
                    **gain(base, tally),
                    **pairs(tally, CLIENTS),
                }


ALL = {"scale": scale, "payoff": payoff, "rule": rule, "room": room, "guess": guess}
