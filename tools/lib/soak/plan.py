# SPDX-License-Identifier: BSD-2-Clause
"""The actions that a seed stands for. They depend on the seed and the bed alone, not on what happens meanwhile."""

import dataclasses
import random

SETTLE_EVERY = 150  # actions; then all is compared with the base


@dataclasses.dataclass(frozen=True)
class Action:
    number: int
    kind: str
    options: dict

    def __str__(self):
        return " ".join([f"{self.number} {self.kind}", *(f"{name}={value}" for name, value in self.options.items())])


def program(r, bed):
    return {"program": r.choice(sorted(bed.programs)), "user": r.randrange(len(bed.users))}


def killed_program(r, bed):
    return {**program(r, bed), "after_ms": round(r.expovariate(1 / 40), 1)}


def storm(r, bed):
    """Children that are killed at some moment, most of them before they end by themselves."""
    return {
        "words": r.choice(sorted(bed.storms)),
        "user": r.randrange(len(bed.users)),
        "children": r.randrange(20, 200),
        "at_once": r.randrange(1, 9),
        "within_us": r.choice((2000, 4000, 20000, 100000)),
        "sets": r.choice((0, 1, 3, 8)),
    }


def family(r, bed):
    """Children that nobody kills; each one's output counts."""
    return {
        "words": r.choice(sorted(bed.storms)),
        "user": r.randrange(len(bed.users)),
        "children": r.randrange(2, 12),
        "sets": r.choice((0, 1, 3)),
    }


def killed_family(r, bed):
    """The parent is killed."""
    return {**storm(r, bed), "after_ms": r.randrange(5, 1500)}


def eaters(r, bed):
    """Many children, each of which opens the device several times: most leases are theirs."""
    return {
        "words": r.choice(sorted(bed.eaters)),
        "user": r.randrange(len(bed.users)),
        "children": r.randrange(100, 250),
        "at_once": r.randrange(4, 17),
    }


def crowd(r, bed):
    """The same program many times at once, so that its pool grows."""
    return {**program(r, bed), "times": r.randrange(4, 17)}


def request(r, bed):
    return {"user": r.randrange(len(bed.users)), "for_ms": r.randrange(1, 3000)}


def malformed(r, bed):
    return {"user": r.randrange(len(bed.users)), "seed": r.randrange(1 << 30), "times": r.randrange(5, 60)}


def question(r, bed):
    return {"user": r.randrange(len(bed.users)), "times": r.randrange(1, 4)}


def forget(r, bed):
    return {"what": r.choice(("one", "one", "one", "all")), "nth": r.randrange(1000)}


def pause(r, _bed):
    return {"for_ms": r.choice((5, 30, 100, 400))}


def restart(r, _bed):
    return {"with": r.choice(("KILL", "KILL", "TERM")), "down_ms": r.choice((0, 0, 20, 300))}


def nothing(_r, _bed):
    return {}


# How often each happens, of the sum of all.
KINDS = {
    "program": (26, program),
    "kill": (16, killed_program),
    "crowd": (6, crowd),
    "eaters": (14, eaters),
    "family": (8, family),
    "storm": (8, storm),
    "killed-family": (4, killed_family),
    "request": (4, request),
    "malformed": (4, malformed),
    "question": (4, question),
    "forget": (2, forget),
    "pause": (2, pause),
    "restart": (3, restart),
    "removal": (1, nothing),
}


def sequence(seed, bed):
    """The actions in their order, without end; @bed says what there is to choose from."""
    r = random.Random(seed)
    weights = [weight for weight, _ in KINDS.values()]
    number = 0
    while True:
        number += 1
        if number % SETTLE_EVERY == 0:
            yield Action(number, "settle", {})
            continue
        kind = r.choices(list(KINDS), weights)[0]
        yield Action(number, kind, KINDS[kind][1](r, bed))
