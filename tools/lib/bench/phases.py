# SPDX-License-Identifier: BSD-2-Clause
"""Phases of a program's start: bench/phases.c, run in all modes in turn."""

import session

from . import device, standin, warm
from .results import figures, row

TO_INIT = ("get_device_list", "open_device", "alloc_pd", "create_cq", "create_srq", "create_qp", "modify_init")
TO_RTS = (*TO_INIT, "query_port_and_gid", "modify_rtr", "modify_rts")
SUMS = {"list_to_init": TO_INIT, "open_to_init": TO_INIT[1:], "list_to_rts": TO_RTS}
CONNECT = ("modify_init", "modify_rtr", "modify_rts")
ROWS = ("get_device_list", "open_device", "alloc_pd", "reg_mr", "create_cq", "create_qp", *CONNECT)
ROWS_SRQ = (*ROWS[:5], "create_srq", *ROWS[5:])


def measure(products, runs):
    return measure_phases(products, runs, (), ROWS)


def measure16(products, runs):
    return measure_phases(products, runs, ("-q", "16", "-s"), ROWS_SRQ)


def on_standin(products, runs):
    """The sums, natively. Another context is open, as in standin.times()."""
    with standin.beside():
        one, sixteen = measure(products, runs), measure16(products, runs)
    return [each for each in one if each["name"] in SUMS] + [
        {**each, "name": f"{each['name']}_16"} for each in sixteen if each["name"] in SUMS
    ]


def measure_phases(products, runs, options, names):
    with warm.node(products, [products.bench("phases")]) as node:
        return rows(collect(node, runs, options), names)


def collect(node, runs, options=(), **interleaving):
    """The output of the program: `runs` times in each mode."""
    gid, _ = device.address()
    command = [node.products.bench("phases"), "-g", gid, *options]
    samples = warm.interleave(node, runs, lambda mode: figures(node.run(command, mode)), **interleaving)
    # With data, because what is fast must also be right.
    for mode in session.MODES:
        node.run([*command, "-c"], mode)
    return samples


def rows(samples, names):
    return [
        row(name, **{mode: [total(each, SUMS.get(name, (name,))) for each in samples[mode]] for mode in session.MODES})
        for name in (*names, *SUMS)
    ]


def total(sample, names):
    return sum(sample[name] for name in names) / 1000
