# SPDX-License-Identifier: BSD-2-Clause
"""Programs in a steady rhythm (bench/besieged.c), alone and while other users attack their daemon
(tests/support/attacks): how many have a lease, and how long they wait for the daemon's answer. Attackers that wait for
nothing (floods) are not nice either; there are one and three of them, with and without --per-container."""

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
# What is attacked is the daemon: a hostile user can have processors without any daemon. Floods are not nice.
NICE = 19
BEGUN_SECONDS = 1
LEARN_RUNS = 20
SLOW_DISK_MS = 120
# As installed, the daemon may have twice as many descriptors as users may have by default (systemd-system.conf(5)).
NOFILE = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
USERS_NOFILE = NOFILE // 2
OPTIONS = ("--refill-delay", "20", "--log-level", "notice")
ALL = "all"
FLOODING = (1, 3)  # processes
SETTINGS = {"": (), "_in_containers": ("--per-container", "yes")}


def measure(products, runs):
    tests = support(products)
    why = tests.hostile.why_not()
    if why:
        raise session.SessionError(why)
    rows = []
    for siege in sieges(tests):
        rows += under_attack(tests, products, siege, runs)
    return rows


@dataclasses.dataclass(frozen=True)
class Siege:
    name: str
    kinds: tuple
    nice: int = NICE
    options: tuple = ()
    slow_disk: bool = False


def sieges(tests):
    """All attacks, then all at once, then the floods."""
    every = tests.attacks.ALL
    for name, kind in every.items():
        yield Siege(name, (kind,), slow_disk=name == "slow_disk")
    yield Siege(ALL, tuple(every.values()), slow_disk=True)
    for setting, options in SETTINGS.items():
        for processes in FLOODING:
            for name, kind in tests.attacks.FLOODS.items():
                yield Siege(f"{name}_by_{processes}{setting}", (tests.attacks.by(processes, kind),), 0, options)


def support(products):
    """The modules of tests/support, which find the build and the stand-in in the environment."""
    os.environ["WARMVERBS_BUILD"] = str(products.folder)
    sys.path.append(str(ROOT / "tests"))
    names = ("attacks", "bed", "hostile", "users")
    return types.SimpleNamespace(**{name: importlib.import_module(f"support.{name}") for name in names})


def under_attack(tests, products, siege, runs):
    """The rows of one siege."""
    plain, warm = Samples(), Samples()
    for run in range(runs):
        try:
            one_run(tests, products, siege, plain, warm)
        except tests.attacks.Impossible as why:
            say(f"{siege.name}: {why}")
            return []
        say(f"{siege.name}: run {run + 1} of {runs}; leased {plain.rate():.2f} alone, {warm.rate():.2f} under attack")
    return rows_of(siege.name, plain, warm)


def one_run(tests, products, siege, plain, warm):
    """Alone, then under attack, with a daemon that knows nothing of earlier attacks."""
    with besieged(tests, products, siege) as victim:
        plain.add(victim.run(PROGRAMS))
        with tests.attacks.Going([kind(victim.target) for kind in siege.kinds], siege.nice, USERS_NOFILE):
            time.sleep(BEGUN_SECONDS)
            warm.add(victim.run(PROGRAMS))


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

    def run(self, programs):
        """What the program printed."""
        environment = self._tests.bed.environment(self._program, True, {"WARMVERBS_SOCKET": str(self._daemon.socket)})
        process = subprocess.Popen(
            [self._program, str(programs), str(PERIOD_MS)],
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
            if self.run(1)["leased"]:
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


def rows_of(name, plain, warm):
    rates = row(f"{name}_hit_rate", plain=[plain.rate()], warm=[warm.rate()], unit="leases per request",
                note=f"{plain.rate():.3f} alone, {warm.rate():.3f} under attack")
    waits = row(f"{name}_wait", plain=plain.waits, warm=warm.waits, p99={"plain": plain.p99(), "warm": warm.p99()},
                note=f"p99 {plain.p99():,.0f} us alone, {warm.p99():,.0f} us under attack")
    # Both ratios are under attack to alone.
    return [{**each, "ratio": round(each["warm"] / each["plain"], 3)} for each in (rates, waits)]
