# SPDX-License-Identifier: BSD-2-Clause
"""Programs in a steady rhythm (bench/besieged.c), alone, beside processes that attack nothing, and while other users
attack their daemon (tests/support/attacks): how many have a lease, and how long they wait for the daemon's answer.

What is attacked is the daemon: a hostile user can have processors without any daemon. So one user's attack is compared
with as many processes that only use processors. Many users who request leases all the time leave little to each, though
none means harm: each has a fair share of the daemon. So the attack of many is compared with as many honest users. None
of these rest. Attackers that wait for nothing (floods) come one and three at a time, with and without --per-container.
"""

import contextlib
import dataclasses
import importlib
import os
import resource
import subprocess
import sys
import time
import types

import session
from products import ROOT

from .results import figures, row
from .say import say

# As a person or a job starts small programs.
PROGRAMS = 100
PERIOD_MS = 20
BEGUN_SECONDS = 1
LEARN_RUNS = 20
SLOW_DISK_MS = 120
# As installed, the daemon may have twice as many descriptors as users may have by default (systemd-system.conf(5)).
NOFILE = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
USERS_NOFILE = NOFILE // 2
OPTIONS = ("--refill-delay", "20", "--log-level", "notice")
PAIRS = ("--pairs", "yes")
ALL = "all"
FLOODING = (1, 3)  # processes
SETTINGS = {"": (), "_in_containers": ("--per-container", "yes")}
HIT_RATE = "_hit_rate"
FAIR = 0.9  # of the leases beside those who attack nothing, at least
OK, UNFAIR, UNTOLD = 0, 1, 77


def measure(products, runs):
    tests = support(products)
    why = tests.hostile.why_not()
    if why:
        raise session.SessionError(why)
    rows = []
    for siege in sieges(tests):
        rows += under_attack(tests, products, siege, runs)
    return rows


def verdict(rows):
    """The exit status: whether each attack left the victim its leases. If the machine had other work, one that did not
    does not count."""
    hit_rates = [each for each in rows if each["name"].endswith(HIT_RATE)]
    unfair = [each for each in hit_rates if each["warm"] < FAIR * each["preload"]]
    for each in unfair:
        say(f"{each['name']}: {each['note']}{', on a busy machine' if each['busy'] else ': unfair'}")
    if not all(each["busy"] for each in unfair):
        return UNFAIR
    return UNTOLD if unfair else OK


@dataclasses.dataclass(frozen=True)
class Siege:
    name: str
    kinds: tuple
    options: tuple = ()
    slow_disk: bool = False
    # Of so many tenants each gets a fair share of the daemon's time: a victim that is one of many asks less often.
    tenants: int = 2

    @property
    def period_ms(self):
        return PERIOD_MS * self.tenants // 2

    @property
    def programs(self):
        """In about the same time."""
        return max(PROGRAMS // 4, PROGRAMS * PERIOD_MS // self.period_ms)


def sieges(tests):
    """All attacks, then all at once, then the floods."""
    every = {name: restless(kind) for name, kind in tests.attacks.ALL.items()}
    for name, kind in every.items():
        yield siege_of(tests, name, (kind,), slow_disk=name == "slow_disk")
    yield siege_of(tests, ALL, tuple(every.values()), slow_disk=True)
    for setting, options in SETTINGS.items():
        for processes in FLOODING:
            for name, kind in tests.attacks.FLOODS.items():
                kinds = (tests.attacks.by(processes, kind),)
                yield siege_of(tests, f"{name}_by_{processes}{setting}", kinds, options)


def restless(kind):
    return type(kind.__name__, (kind,), {"rest_s": 0.0})


def siege_of(tests, name, kinds, options=(), slow_disk=False):
    if any(kind.with_pairs for kind in kinds):
        options = (*options, *PAIRS)
    subordinates = tests.users.SUBORDINATES
    attackers = {tests.users.ATTACKER if uid in subordinates else uid for kind in kinds for uid in kind.uids}
    return Siege(name, kinds, options, slow_disk, 1 + len(attackers))


def support(products):
    """The modules of tests/support, which find the build and the stand-in in the environment."""
    os.environ["WARMVERBS_BUILD"] = str(products.folder)
    sys.path.append(str(ROOT / "tests"))
    names = ("attacks", "bed", "cases", "hostile", "users")
    return types.SimpleNamespace(**{name: importlib.import_module(f"support.{name}") for name in names})


def under_attack(tests, products, siege, runs):
    """The rows of one siege."""
    samples = types.SimpleNamespace(alone=Samples(), beside=Samples(), attacked=Samples(), busy=False)
    for run in range(runs):
        try:
            one_run(tests, products, siege, samples)
        except tests.attacks.Impossible as why:
            say(f"{siege.name}: {why}")
            return []
        say(f"{siege.name}: run {run + 1} of {runs}; {rates(samples)}")
    return rows_of(siege.name, samples)


def one_run(tests, products, siege, samples):
    """With a daemon that knows nothing of earlier attacks."""
    kind = tests.attacks.Busy if siege.tenants == 2 else tests.attacks.Honest
    harmless = type(kind.__name__, (kind,), {"uids": tuple(uid for each in siege.kinds for uid in each.uids)})
    with besieged(tests, products, siege) as victim:
        meanwhile = tests.cases.Busyness()
        samples.alone.add(victim.run(siege))
        samples.busy |= meanwhile.was_busy()
        samples.beside.add(victim.run(siege, harmless))
        samples.attacked.add(victim.run(siege, *siege.kinds))


@contextlib.contextmanager
def besieged(tests, products, siege):
    """A daemon that has leases for the victim."""
    folder = tests.hostile.make_folder("siege.")
    env = tests.hostile.slow_disk(SLOW_DISK_MS) if siege.slow_disk else None
    with contextlib.ExitStack() as stack:
        stack.callback(subprocess.run, ["rm", "-rf", folder], check=True)
        daemon = tests.hostile.start_daemon(folder, (*OPTIONS, *siege.options), env, NOFILE)
        stack.callback(daemon.stop)
        victim = Victim(tests, daemon, products.bench("besieged"), tests.hostile.make_target(folder, daemon.socket))
        victim.learn()
        yield victim


class Victim:
    def __init__(self, tests, daemon, program, target):
        self._tests, self._daemon, self._program = tests, daemon, str(program)
        self.target = target

    def run(self, siege, *kinds):
        """What the program printed, beside attacks of these kinds."""
        with self._tests.attacks.Going([kind(self.target) for kind in kinds], USERS_NOFILE):
            time.sleep(BEGUN_SECONDS if kinds else 0)
            return self.start(siege.programs, siege.period_ms)

    def start(self, programs, period_ms=PERIOD_MS):
        environment = self._tests.bed.environment(self._program, True, {"WARMVERBS_SOCKET": str(self._daemon.socket)})
        process = subprocess.Popen(
            [self._program, str(programs), str(period_ms)],
            env=environment,
            user=self._tests.users.VICTIM,
            group=self._tests.users.gid(),
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return figures(session.finish(process))

    def learn(self):
        """Runs until the daemon has leases for it."""
        for _ in range(LEARN_RUNS):
            if self.start(1)["leased"]:
                session.wait_until(self._is_full, session.READY_SECONDS, lambda: "leases were not made")
                return
        raise session.SessionError(f"no lease in {LEARN_RUNS} runs:\n{self._daemon.log()}")

    def _is_full(self):
        return all(session.is_full(recipe["pool"]) for recipe in self._daemon.status()["recipes"])


class Samples:
    """Of all runs."""

    def __init__(self):
        self.waits, self._leased = [], 0

    def add(self, printed):
        self._leased += printed["leased"]
        self.waits += [value / 1000 for name, value in printed.items() if name.startswith("wait_")]

    def rate(self):
        return self._leased / len(self.waits)

    def p99(self):
        return sorted(self.waits)[len(self.waits) * 99 // 100]


def rates(samples):
    return (f"{samples.alone.rate():.3f} alone, {samples.beside.rate():.3f} beside the harmless, "
            f"{samples.attacked.rate():.3f} under attack")


def rows_of(name, samples):
    """The ratios are under attack to beside those who attack nothing."""
    each = {"plain": samples.alone, "preload": samples.beside, "warm": samples.attacked}
    p99 = {column: those.p99() for column, those in each.items()}
    hits = row(f"{name}{HIT_RATE}", **{column: [those.rate()] for column, those in each.items()}, note=rates(samples),
               unit="leases per request", busy=samples.busy)
    waits = row(f"{name}_wait", **{column: those.waits for column, those in each.items()}, p99=p99,
                note=f"p99 {p99['plain']:,.0f} us alone, {p99['preload']:,.0f} us beside the harmless, "
                     f"{p99['warm']:,.0f} us under attack")
    return [{**one, "ratio": one["preload"] and round(one["warm"] / one["preload"], 3)} for one in (hits, waits)]
