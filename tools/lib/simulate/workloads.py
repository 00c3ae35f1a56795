# SPDX-License-Identifier: BSD-2-Clause
"""Which programs start, when and where, and to which servers they connect. The seed decides everything."""

import dataclasses
import heapq
import itertools
import math
import random
import statistics

US = 1e6


@dataclasses.dataclass(frozen=True)
class Start:
    time: float  # us
    node: int
    program: int
    servers: tuple  # of (node, name): one for each queue pair; name None: a process that has just started
    life: float  # us, after the first byte


def poisson(rng, rate):
    """Times in us, without end."""
    now = 0.0
    while True:
        now += rng.expovariate(rate) * US
        yield now


def few(nodes, seed, rate=2.0, programs=4, stray=0.1):
    """All-to-few: functions on all nodes read from a few servers of a key-value store. Each node runs `programs`
    functions, `rate` starts a second in all, and each function has a home server; of its starts, the share `stray`
    reads from any server instead."""
    rng = random.Random(f"few {nodes} {seed}")
    servers = [(node, node) for node in rng.sample(range(nodes), max(2, nodes // 250))]
    homes = {}
    for time in poisson(rng, rate * nodes):
        node = rng.randrange(nodes)
        program = rng.randrange(programs)
        home = homes.setdefault((node, program), rng.choice(servers))
        server = rng.choice(servers) if rng.random() < stray else home
        yield Start(time, node, program, (server,), rng.expovariate(1) * 0.1 * US)


def shuffle(nodes, seed, tasks=8, period=10.0, moved=0.2):
    """All-to-all: jobs of `tasks` tasks on as many nodes. Each task connects to a server on each other node of its job,
    all at once. A job runs again every `period` seconds, on its own group of nodes or, with probability `moved`, on
    random ones."""
    rng = random.Random(f"shuffle {nodes} {seed}")
    tasks = min(tasks, nodes)
    groups = nodes // tasks
    pending = []  # starts that come later than the beginning of the next job
    for number, time in enumerate(poisson(rng, groups / period)):
        while pending and pending[0][0] <= time:
            yield heapq.heappop(pending)[-1]
        first = rng.randrange(groups) * tasks
        members = rng.sample(range(nodes), tasks) if rng.random() < moved else range(first, first + tasks)
        for node in members:
            others = tuple((other, other) for other in members if other != node)
            start = Start(time + rng.uniform(0, 5000), node, 0, others, 0.5 * US)
            heapq.heappush(pending, (start.time, number, node, start))


# Shahrad et al., Serverless in the Wild, USENIX ATC 2020: the 18.6 % of applications that are invoked at least once a
# minute have 99.6 % of all invocations. A log-normal distribution of rates with both properties has 40 % of the
# applications at once an hour or less (published: 45 %).
POPULAR, POPULAR_SHARE, POPULAR_RATE = 0.186, 0.996, 1 / 60
# The same: execution times, log-normal, seconds; 40 % of the applications have times between invocations that vary
# more than those of a Poisson process.
LIFE_MU, LIFE_SIGMA, LONGEST_LIFE = -0.38, 2.36, 60.0
BURSTY, BURST, BURST_US = 0.4, 8, 10000.0  # how much more they vary is an assumption: bursts of 8 on average
HOTTEST = 10.0  # invocations a second that one node takes of a function that stays; assumption


def popularity():
    """mu and sigma of the logarithm of an application's invocations a second."""
    normal = statistics.NormalDist()
    edge = normal.inv_cdf(1 - POPULAR)
    sigma = edge + normal.inv_cdf(POPULAR_SHARE)
    return math.log(POPULAR_RATE) - edge * sigma, sigma


def rates(rng, total):
    """Rates of so many applications that their sum is `total` a second."""
    mu, sigma = popularity()
    found = []
    while sum(found) < total:
        found += [rng.lognormvariate(mu, sigma) for _ in range(max(1, round(total)))]
        found = [rate for rate in found if rate < total / 4]  # else one application would be the whole workload
    return found


def churn(nodes, seed, rate=2.0, sticky=False, chained=0.2):
    """Functions with the popularity and the execution times of Azure Functions, placed at random, or, if `sticky`, on
    as few nodes as their rate allows. They read from the store of their application, on one of a few nodes, or, the
    share `chained`, from a function that has just started."""
    rng = random.Random(f"churn {nodes} {seed}")  # the same functions whether sticky or not
    weights = rates(rng, rate * nodes)
    stores = rng.sample(range(nodes), max(2, nodes // 50))
    functions = []
    for number, weight in enumerate(weights):
        homes = rng.sample(range(nodes), min(nodes, math.ceil(weight / HOTTEST)))
        functions.append((number, rng.choice(stores), homes if sticky else range(nodes)))
    calls = [BURST if rng.random() < BURSTY else 1 for _ in functions]
    events = [weight / n for weight, n in zip(weights, calls)]
    sums = list(itertools.accumulate(events))
    pending = []
    for time in poisson(rng, sums[-1]):
        while pending and pending[0][0] <= time:
            yield heapq.heappop(pending)[-1]
        number, store, places = rng.choices(functions, cum_weights=sums)[0]
        for _ in range(geometric(rng, calls[number])):
            node = rng.choice(places)
            server = (rng.randrange(nodes), None) if rng.random() < chained else (store, store)
            life = min(rng.lognormvariate(LIFE_MU, LIFE_SIGMA), LONGEST_LIFE) * US
            start = Start(time + rng.uniform(0, BURST_US), node, number, (server,), life)
            heapq.heappush(pending, (start.time, rng.random(), start))


def geometric(rng, mean):
    """1, 2, ...; `mean` on average."""
    return 1 if mean == 1 else 1 + int(math.log(1 - rng.random()) / math.log(1 - 1 / mean))


def sticky(nodes, seed):
    return churn(nodes, seed, sticky=True)


def edge(nodes, seed, interval=1.0, share=1.0):
    """For the question when pairs pay: each node but the first has one function, which starts every `interval` seconds
    on average, and connects with probability `share` to its home, else to another server, which are on all nodes."""
    rng = random.Random(f"edge {nodes} {seed}")
    for time in poisson(rng, nodes / interval):
        node = rng.randrange(nodes)
        home = (node + 1) % nodes
        server = home if rng.random() < share else (home + rng.randrange(1, nodes)) % nodes
        yield Start(time, node, 0, ((server, server),), 0.01 * US)


def one_server(nodes, seed, rate=100.0):
    """Clients on all other nodes of one server, `rate` a second in all."""
    rng = random.Random(f"one server {nodes} {seed}")
    for time in poisson(rng, rate):
        yield Start(time, rng.randrange(1, nodes), 0, ((0, 0),), 0.01 * US)


def spread(nodes, seed):
    """As all-to-few, but each start reads from any of the servers: no edge is likely."""
    return few(nodes, seed, stray=1.0)


ALL = {"few": few, "shuffle": shuffle, "churn": churn, "sticky": sticky, "spread": spread}
