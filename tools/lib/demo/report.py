# SPDX-License-Identifier: BSD-2-Clause
"""What the demonstration prints."""

import dataclasses
import statistics

from bench.pairs import SIDES

MODES = ("plain", "warm")


@dataclasses.dataclass(frozen=True)
class Measured:
    """One program: the results of pairs.timed(), run by run, and of pairs.counted(), each by mode."""

    name: str
    samples: dict
    commands: dict

    def time(self, mode, state):
        """The client's median, in microseconds. (A server's time to RTS depends on when its client connects.)"""
        return statistics.median(each["client"][f"list_to_{state}"] for each in self.samples[mode]) / 1000

    def issued(self, mode, side):
        return {name: times for name, (times, _) in self.commands[mode][side].items()}

    def total(self, mode):
        return sum(self.issued(mode, "client").values())

    def served(self, side):
        """Commands that reached the kernel in plain runs and were answered from a lease in warm ones, with number."""
        plain, warm = (self.issued(mode, side) for mode in MODES)
        saved = {name: times - warm.get(name, 0) for name, times in plain.items()}
        return {name: times for name, times in saved.items() if times > 0}


def place(virtual):
    print("\nwarmverbs demo: unmodified programs on soft-RoCE, plain and warm in turn")
    if virtual:
        print(
            "The virtual machine counts instructions: 1 us below is 1000 instructions, client, daemon and kernel\n"
            "together on one CPU. Times are so repeatable, and ratios hold; but no hardware was timed."
        )


def programs(rows):
    print("\nFrom ibv_get_device_list() to the first queue pair in INIT and in RTS, us; kernel commands; client's side")
    lines = [("", "INIT plain", "warm", "ratio", "RTS plain", "warm", "ratio", "commands plain", "warm")]
    for each in rows:
        lines.append((each.name, *times(each, "init"), *times(each, "rts"), *(str(each.total(mode)) for mode in MODES)))
    aligned(lines)


def times(each, state):
    plain, warm = (each.time(mode, state) for mode in MODES)
    return f"{plain:,.0f}", f"{warm:,.0f}", f"{plain / warm:.1f}"


def phases(rows):
    print("\nBy phase, us: preload is the library without a lease, which loads one provider instead of all")
    lines = [("", "plain", "preload", "warm", "ratio")]
    for row in rows:
        values = (f"{row[mode]:,.1f}" for mode in ("plain", "preload", "warm"))
        lines.append((row["name"], *values, f"{row['ratio']:.1f}"))
    aligned(lines)


def served(rows):
    print("\nServed from a lease, not by the kernel")
    for each in rows:
        texts = {side: names(each.served(side)) for side in SIDES}
        if len(set(texts.values())) == 1:
            texts = {"server and client": texts["client"]}
        for side, text in texts.items():
            print(f"  {each.name} {side}: {text}")


def names(commands):
    return ", ".join(name if times == 1 else f"{times} {name}" for name, times in commands.items()) or "nothing"


def aligned(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        cells = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))
        print("  ".join(("", line[0].ljust(widths[0]), *cells)))


def summary(rows):
    """The last words, and the exit status."""
    unserved = [f"{each.name} {side}" for each in rows for side in SIDES if not each.served(side)]
    saved = sum(sum(each.served(side).values()) for each in rows for side in SIDES)
    ratios = [each.time("plain", "init") / each.time("warm", "init") for each in rows]
    print(
        f"\n{len(rows)} programs ran plain and warm, servers and clients, and all succeeded. Warm, their first queue"
        f" pairs were in INIT\n{min(ratios):.1f} to {max(ratios):.1f} times sooner, and {saved} kernel commands were"
        " answered from leases."
    )
    if unserved:
        print(f"FAILED: never served from a lease: {', '.join(unserved)}")
    return 1 if unserved else 0
