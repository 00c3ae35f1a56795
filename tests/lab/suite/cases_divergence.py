# SPDX-License-Identifier: BSD-2-Clause
"""A program that diverges from its recipe still gets what it asks for."""

from support import trace

from .lab import same
from .report import Case, require

TOPIC = "divergence"

# Options of the recorded run, and of the run that gets the lease (tests/programs/objects.c).
OBJECTS = [
    ("the same", "", ""),
    ("other CQ depth", "-c 64", "-c 100"),
    ("other QP depth", "-w 8", "-w 20"),
    ("other access at INIT", "-a 7", "-a 3"),
    ("more queue pairs", "-n 2", "-n 6"),
    ("fewer queue pairs", "-n 6", "-n 1"),
    ("fewer queue pairs, busy objects destroyed", "-n 6 -s", "-n 1 -b"),
    ("busy objects destroyed", "-b", "-b -s"),
    ("recorded with events", "-e", ""),
    ("recorded without events", "", "-e"),
    ("shared receive queue gone", "-s", ""),
    ("shared receive queue new", "", "-s"),
    ("two queues on one channel", "-e -t -n 4", "-e -t -n 4"),
    ("two queues where one was", "-e", "-e -t"),
    ("one queue where two were", "-e -t", "-e"),
    ("limit event", "-l", "-l"),
    ("limit event, new", "-s", "-l"),
    ("limit event and completion events", "-l -e -t", "-l -e -t"),
    ("queue pair made anew", "", "-r"),
    ("queue pair made anew, recorded so", "-r", "-r"),
    ("queue pair made anew only then", "-r", ""),
    ("queue pair reset before INIT", "", "-R"),
    ("reset recorded too", "-n 1 -R", "-n 2 -R"),
    ("UC instead of RC", "", "-u"),
    ("quite another program", "-s -l -e -t -n 6 -w 30", "-u -n 3 -c 7 -a 1"),
    ("quite another program, reversed", "-u -n 3 -c 7 -a 1", "-s -l -e -t -n 6 -w 30"),
    ("stops at INIT", "", "-x"),
    ("goes on after INIT", "-x", ""),
    ("registered memory", "-m -n 3", "-m -n 3"),
    ("registered memory of three opens", "-m -o 3", "-m -o 3"),
    ("registered memory, not asked for", "-m", "-b"),
    ("registered memory, new", "", "-m"),
    ("three opens", "-o 3", "-o 3"),
    ("more opens than recorded", "", "-o 3"),
    ("fewer opens than recorded", "-o 3", ""),
]

STATES = ["init", "query", "rtr-without-init", "rts-without-rtr", "init-twice", "other-access-first",
          "reset-first", "there-and-back", "error-at-once", "half-an-init"]

THREADS = [
    ("8 threads, a context each", "8 6"),
    ("8 threads, one context", "8 6 shared"),
    ("recorded by one thread, run by 8", "1 2 shared", "8 6 shared"),
]


def diverges(program, variable, recorded, run):
    """Records one run of the program and gives the lease to another."""
    def test(lab):
        words = [lab.build.program(program)]
        plain = lab.run(words, env={variable: run})
        require(plain.status == 0, f"{program} fails without warmverbs")
        lab.start_daemon()
        first = lab.record(words, {variable: recorded})
        require(first.status == 0, f"{program} fails while it is recorded")
        [second] = lab.run_leased(lambda: [lab.run(words, warm=True, env={variable: run})])
        same(plain, second, "exact")
        require(trace.opens(second.events, trace.ADOPTED), "there was no lease")
        if recorded == run and "-m" in run:
            require(not trace.registrations(second.events, trace.KERNEL), "memory is registered by the program")
        if recorded == run:
            require(not trace.made(second.events, trace.KERNEL), "not all was adopted: "
                    f"{trace.made(second.events, trace.KERNEL)}")
    return test


def threads(recorded, run):
    def test(lab):
        words = [lab.build.program("threads")]
        plain = lab.run(words, env={"THREADS": run})
        lab.start_daemon()
        for options in (recorded, run, run):
            warm = lab.run(words, warm=True, env={"THREADS": options})
            lab.daemon.settle()
        same(plain, warm, "exact")
    return test


def cases():
    yield from (Case(TOPIC, f"{name} ({old or '-'} then {new or '-'})",
                     diverges("objects", "OBJECTS", old, new)) for name, old, new in OBJECTS)
    yield from (Case(TOPIC, f"states seen: {name}", diverges("states", "STATES", "init", name))
                for name in STATES)
    yield from (Case(TOPIC, name, threads(options[0], options[-1])) for name, *options in THREADS)
