#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/simulate: small cases whose result was computed by hand, with two or three nodes and known times of arrival."""

import contextlib
import io
import itertools
import json
import math
import pathlib
import statistics
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from support import cases  # noqa: E402  (the path comes first)

try:
    import simpy  # noqa: F401  (whether it is there)
except ModuleNotFoundError:
    cases.main("SimPy is missing (apt-get install python3-simpy3)")

from bench import plot  # noqa: E402  (the path comes first)
from simulate import costs, main, studies, workloads  # noqa: E402  (the path comes first)
from simulate.cluster import PLAIN, READY, Cluster  # noqa: E402
from simulate.policy import NO_PAIRS, RULE, SECOND, Policy, Slot  # noqa: E402
from simulate.workloads import Start  # noqa: E402

FIRMWARE = {
    **{"CREATE_QP": 100, "RST2INIT_QP": 5, "INIT2RTR_QP": 10, "RTR2RTS_QP": 20, "2RST_QP": 7, "DESTROY_QP": 3},
    "proc_cpuinfo": 0,
}
COSTS = costs.with_firmware(FIRMWARE, software_plain=1000, software_lease=500, hop=50, read=5)
CREATE, CONNECT, PUT_BACK = 105, 30, 12
LEASED = 500 + 50 + CONNECT + 50 + CONNECT + 5  # with a lease and a spare
PAIRED = 500 + 50 + 50 + 5
MISSED = LEASED + PUT_BACK
ONE_PAIR = Policy("one", per_edge=1, idle=10 * SECOND)
LIFE = 1000.0
WARM_UP = 0.5  # seconds, in which nothing happens


def start(seconds, node=1, server=0, program=0):
    return Start(seconds * 1e6, node, program, ((server, server),), LIFE)


def run(starts, policy=NO_PAIRS, mode=READY, named=True, seconds=100):
    cluster = Cluster(COSTS, policy, mode, named)
    return cluster.run(iter(starts), WARM_UP, seconds - WARM_UP)


class OneClient(unittest.TestCase):
    def assert_times(self, tally, expected):
        self.assertEqual([round(time, 3) for time in tally.times], expected)

    def test_plain_verbs(self):
        tally = run([start(1)], mode=PLAIN)
        self.assert_times(tally, [1000 + CREATE + 50 + CREATE + CONNECT + 50 + CONNECT + 5])

    def test_a_lease_and_a_spare(self):
        self.assert_times(run([start(1)]), [LEASED])

    def test_a_pair_from_the_third_connection_on(self):
        tally = run([start(1), start(2), start(3), start(4)], ONE_PAIR)
        self.assert_times(tally, [LEASED, LEASED, PAIRED, PAIRED])
        self.assertEqual(tally.count["hits"], 2)

    def test_firmware_of_pairs(self):
        """One pair after each of the last three connections, of which the last one expires."""
        tally = run([start(1), start(2), start(3), start(4)], ONE_PAIR)
        self.assertEqual(tally.count["prepared"], 3)
        self.assertEqual(tally.count["expired"], 1)
        self.assertEqual(tally.spent["pair"], 3 * 2 * CONNECT + 2 * PUT_BACK)
        self.assertEqual(tally.spent["program"], 2 * 2 * CONNECT)

    def test_an_edge_that_is_used_too_seldom_has_no_pair(self):
        tally = run([start(1), start(20), start(40)], ONE_PAIR)
        self.assert_times(tally, [LEASED] * 3)
        self.assertEqual(tally.count["prepared"], 0)

    def test_a_program_that_goes_elsewhere(self):
        """The client puts its end back before it connects; the daemon of the server does so for the other end."""
        tally = run([start(1), start(2), start(3, server=2)], ONE_PAIR, seconds=5)
        self.assert_times(tally, [LEASED, LEASED, MISSED])
        self.assertEqual(tally.count["misses"], 1)
        self.assertEqual(tally.spent["put back"], PUT_BACK)
        self.assertEqual(tally.spent["pair"], 2 * CONNECT + PUT_BACK)

    def test_no_lease_is_left(self):
        """The pool has one lease, and is filled again when programs pause."""
        tally = run([start(1), start(1.001)])
        first, second = tally.times
        self.assertEqual(round(first), LEASED)
        self.assertEqual(round(second), 1000 + CREATE + 50 + CONNECT + 50 + CONNECT + 5)
        self.assertEqual(tally.count["without_lease"], 1)

    def test_the_time_that_pairs_exist(self):
        """Counted from when it is prepared, 20 ms after the second program asked for its lease, until it expires."""
        tally = run([start(1), start(2)], ONE_PAIR, seconds=20)
        self.assertAlmostEqual(tally.mean_pairs, 10 / 19.5, delta=0.01)
        self.assertEqual(tally.most_pairs, 1)


class SeveralClients(unittest.TestCase):
    def test_a_server_executes_one_command_at_a_time(self):
        """The second client waits for the first, and for the spare that the server makes in place of the first's."""
        tally = run([start(1, node=1), start(1, node=2)])
        self.assertEqual([round(time) for time in tally.times], [LEASED, LEASED + CREATE + CONNECT])

    def learnt(self, named, **changes):
        """Two clients that have a pair each, and start together."""
        before = [start(when, node=node) for when in (1, 2) for node in (1, 2)]
        return run([*before, start(5, node=1), start(5, node=2)], ONE_PAIR, named=named, **changes)

    def test_a_request_that_names_its_pair_always_finds_it(self):
        tally = self.learnt(named=True)
        self.assertEqual((tally.count["hits"], tally.count["misses"]), (2, 0))

    def test_a_server_that_must_guess_does_not_with_two_at_once(self):
        """The second, of which the server then knows that it is the only one left, is found."""
        tally = self.learnt(named=False)
        self.assertEqual(tally.count["hits"] + tally.count["misses"], 2)
        self.assertGreaterEqual(tally.count["misses"], 1)

    def test_a_full_node_refuses(self):
        policy = Policy("full", per_edge=1, idle=10 * SECOND, per_node=1)
        tally = run([start(when, node=node) for when in (1, 2) for node in (1, 2)], policy, seconds=5)
        self.assertEqual(tally.most_pairs, 1)
        self.assertEqual(tally.count["refused"], 1)


class Peers(unittest.TestCase):
    def test_one_connection_that_is_closed_when_idle(self):
        tally = run([start(1), start(2), start(3)], ONE_PAIR, seconds=4)
        self.assertEqual((tally.traffic["connections"], tally.traffic["handshakes"]), (1, 1))
        # Two pairs prepared by two messages each, one claimed by one.
        self.assertEqual(tally.traffic["messages"], 5)
        self.assertEqual(tally.traffic["bytes"], 2907 + 5 * (128 + 22 + 66))
        self.assertEqual(run([start(1), start(2), start(3)], ONE_PAIR, seconds=130).traffic["connections"], 0)

    def test_a_node_needs_none_to_itself(self):
        tally = run([start(when, node=0) for when in (1, 2, 3)], ONE_PAIR)
        self.assertEqual(tally.count["hits"], 1)
        self.assertEqual(tally.traffic["handshakes"], 0)


class TheRule(unittest.TestCase):
    def slot(self, *destinations):
        slot = Slot(RULE)
        for when, destination in enumerate(destinations):
            slot.note(destination, 2 * when * SECOND, SECOND)
        return slot

    def wanted(self, slot, destination, now=10 * SECOND):
        return slot.wanted(slot.edges[destination], now)

    def test_an_edge_is_used_twice_first(self):
        self.assertEqual(self.wanted(self.slot("a"), "a"), 0)
        self.assertEqual(self.wanted(self.slot("a", "a"), "a"), 1)

    def test_one_of_four_may_go_elsewhere(self):
        self.assertEqual(self.wanted(self.slot("a", "a", "b", "a"), "a"), 1)
        self.assertEqual(self.wanted(self.slot("a", "a", "b", "b", "a"), "a"), 0)

    def test_what_there_is_stays_until_nobody_goes_there(self):
        self.assertFalse(self.slot("a", "a", "b", "b").is_dropped(self.slot("a", "a").edges["a"], 10 * SECOND))
        self.assertTrue(self.slot("a", "b", "b", "b", "b").is_dropped(self.slot("a").edges["a"], 10 * SECOND))

    def test_as_many_as_programs_that_start_together(self):
        slot = Slot(RULE)
        for when in (1.0, 1.1, 1.2, 1.3, 1.4):
            slot.note("a", when * SECOND, SECOND)
        self.assertEqual(self.wanted(slot, "a", 2 * SECOND), 5)
        self.assertEqual(self.wanted(slot, "a", 200 * SECOND), 0)


class Costs(unittest.TestCase):
    def test_models_of_the_stand_in(self):
        for model, connect, put_back in (("a", 300, 400), ("b", 120, 120)):
            found = costs.load(model)
            self.assertEqual(found.times(costs.CONNECT), [connect])
            self.assertEqual(found.times(costs.PUT_BACK), [put_back])
            named = {command for group in (*costs.OPEN_TO_INIT, *costs.END_QP, *costs.END_CONTEXT) for command in group}
            self.assertLessEqual(named, {*found.firmware})

    def test_an_open_takes_14_commands(self):
        self.assertEqual(sum(map(len, costs.OPEN_TO_INIT)), 14)

    def test_each_constant_has_a_source(self):
        self.assertTrue(all(each.source and each.unit for each in costs.CONSTANTS.values()))


class Workloads(unittest.TestCase):
    def test_a_seed_is_a_workload(self):
        for name, function in workloads.ALL.items():
            def first(seed, function=function):
                return list(itertools.islice(function(50, seed), 300))

            self.assertEqual(first(7), first(7), name)
            self.assertNotEqual(first(7), first(8), name)
            times = [each.time for each in first(7)]
            self.assertEqual(times, sorted(times), name)
            self.assertTrue(all(0 <= each.node < 50 for each in first(7)), name)

    def test_popularity_is_as_published(self):
        mu, sigma = workloads.popularity()
        rates = statistics.NormalDist(mu, sigma)
        self.assertAlmostEqual(1 - rates.cdf(math.log(1 / 60)), 0.186, places=3)
        # The share of all invocations above that rate: a property of the log-normal distribution.
        self.assertAlmostEqual(1 - statistics.NormalDist(mu + sigma**2, sigma).cdf(math.log(1 / 60)), 0.996, places=3)

    def test_bursts_have_the_mean_that_they_should(self):
        rng = workloads.random.Random(1)
        self.assertAlmostEqual(statistics.mean(workloads.geometric(rng, 8) for _ in range(20000)), 8, delta=0.2)


class CommandLine(unittest.TestCase):
    def output(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(main.main(words), 0)
        return out.getvalue()

    def test_the_same_seed_gives_the_same_result(self):
        words = ("scale", "--short", "--json", "--model", "b", "--nodes", "10", "--workload", "few")
        result = json.loads(self.output(*words))
        self.assertEqual(result, json.loads(self.output(*words)))
        row = result["rows"][0]
        self.assertLess(row["pair"]["p50"], row["spare"]["p50"])
        self.assertLess(row["spare"]["p50"], row["plain"]["p50"])

    def test_every_question_has_its_columns(self):
        self.assertEqual({*studies.ALL}, {*main.COLUMNS})
        self.assertEqual({*studies.ALL, *main.OTHERS}, {*main.QUESTIONS})
        self.assertIn("named_10_b", self.output("guess", "--short", "--model", "b"))

    def test_plots(self):
        for name, words in {"scale": ("--nodes", "10,20"), "payoff": ()}.items():
            result = json.loads(self.output(name, "--short", "--json", "--model", "b", *words))
            panels = plot.KINDS[result["bench"]](result["rows"])
            self.assertTrue(panels)
            for series in itertools.chain(*(panel.series for panel in panels)):
                self.assertIn(series.mode, plot.COLOURS)
                self.assertGreater(len(series.points), 1)
                self.assertTrue(all(x > 0 and y > 0 for x, y in series.points), series)

    def test_constants_are_printed(self):
        self.assertEqual({*json.loads(self.output("costs", "--json"))}, {*costs.CONSTANTS})


if __name__ == "__main__":
    cases.main()
