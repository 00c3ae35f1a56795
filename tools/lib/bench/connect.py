# SPDX-License-Identifier: BSD-2-Clause
"""What a connection costs a client and its server: time by verb, and commands."""

import contextlib
import functools
import importlib
import pathlib
import sys
import tempfile

import session
from products import ROOT

from . import pairs, standin, warm
from .connecting import FIRST_CLIENTS, Server, by_verb, command, learn_server, programs
from .results import figures, row

TO_INIT = ("open_device", "alloc_pd", "create_cq", "create_qp", "modify_init")
TO_RTS = ("modify_rtr", "modify_rts")
QUERY = ("query_port_and_gid",)
SUMS = {
    "client_open_to_rts": (*TO_INIT, *QUERY, *TO_RTS),
    "client_query": QUERY,
    "client_rtr_rts": TO_RTS,
    "client_read": ("read",),
}
# How the server and how its clients run. A client without warmverbs leaves the server nothing but its spares.
SIDES = {**{mode: (mode, mode) for mode in session.MODES}, "spare_only": ("warm", "plain")}
COUNTED_MODES = ("plain", "warm")
COUNTED_CLIENTS = 16
MOVES = (1, 2, 3)  # to INIT, RTR, RTS
LEARN_PAIRS = 5  # clients, until there are queue pairs that are connected in advance
PAIR_SECONDS = 0.5


def measure(products, runs, suffix="", commands=None):
    with warm.node(products, programs(products, "server", "client"), "--pairs", "yes") as node:
        rows = timed(node, runs) + [client_commands(node, commands or uverbs_commands), server_commands(node)]
    return [{**each, "name": each["name"] + suffix} for each in rows]


def client(node, server):
    return command(node, "client", server.port)


def timed(node, runs):
    learn_server(node, "client")
    with contextlib.ExitStack() as stack:
        all_ = {name: started(node, stack, side) for name, (side, _) in SIDES.items()}
        for _ in range(LEARN_PAIRS):
            node.run(client(node, all_["warm"]), "warm")
            await_pair(node)
        samples = warm.interleave(node, runs, lambda name: once(node, all_[name], SIDES[name]), SIDES)
    return rows(samples, all_)


def once(node, server, modes):
    if modes == ("warm", "warm"):
        await_pair(node)
    return figures(node.run(client(node, server), modes[1]))


def await_pair(node):
    """Wait until the next client can be connected in advance. The first ones cannot."""
    with contextlib.suppress(session.SessionError):
        session.wait_until(lambda: node.status()["pairs"]["ready"], PAIR_SECONDS, lambda: "no pair")


def started(node, stack, mode):
    """A server that has shown its pattern."""
    node.settle()
    server = stack.enter_context(Server(node, mode))
    for _ in range(FIRST_CLIENTS):
        node.run(client(node, server), "plain")
    return server


def rows(samples, all_):
    modes = session.MODES
    of_clients = {
        mode: by_verb({name: [each[name] for each in samples[mode]] for name in samples[mode][0]}) for mode in modes
    }
    of_server = {name: by_verb(server.printed) for name, server in all_.items()}
    accepted = {name: [each / 1000 for each in server.connections()] for name, server in all_.items()}
    spare_only = accepted.pop("spare_only")
    return [
        *(
            row(name, **{mode: [total(each, verbs) for each in samples[mode]] for mode in modes}, detail=of_clients)
            for name, verbs in SUMS.items()
        ),
        row("server_accept", **accepted, detail=of_server),
        row("server_spare_only", plain=accepted["plain"], warm=spare_only, detail=of_server["spare_only"]),
    ]


def total(sample, names):
    return sum(sample[name] for name in names) / 1000


def client_commands(node, commands):
    """From the start of the client to its end; it destroys nothing."""
    kinds = {}
    for mode in COUNTED_MODES:
        with contextlib.ExitStack() as stack:
            server = started(node, stack, mode)
            for _ in range(LEARN_PAIRS if mode == "warm" else 0):
                node.run(client(node, server), mode)
                await_pair(node)
            node.settle()
            kinds[mode] = commands(node, client(node, server), mode)
    totals = {mode: [sum(kinds[mode].values())] for mode in COUNTED_MODES}
    left = ", ".join(f"{times} {name}" for name, times in kinds["warm"].items())
    return row("client_commands", **totals, unit="commands", note=f"warm: {left}", detail=kinds)


def uverbs_commands(node, words, mode):
    """{name: times} of the commands that reach the kernel, but for the program's memory."""
    with tempfile.TemporaryDirectory() as folder:
        counted = pathlib.Path(folder, "counted")
        node.run([node.products.bench("commands"), counted, *words], mode)
        return {name: times for name, (times, _) in pairs.counts(counted.read_text()).items() if name != "reg_mr"}


def firmware_commands(node, words, mode):
    """{name: times} of the firmware commands of the stand-in, but for the program's memory."""
    standin.counts()
    counted, _ = standin.firmware(node.start(words, mode))
    return {name: times for name, times in counted.items() if name != "CREATE_MKEY"}


def server_commands(node):
    """For each connection: create, INIT, RTR and RTS that the program asked for, and those that it waited for. The
    commands by which the library makes spares are not the program's."""
    trace = support_trace()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "trace")
        with Server(node, "warm", WARMVERBS_TRACE=path) as server:
            for _ in range(FIRST_CLIENTS + COUNTED_CLIENTS):
                node.settle()
                await_pair(node)
                node.run(client(node, server), "warm")
        asked, waited = commands_of_server(trace, trace.read(path), FIRST_CLIENTS, COUNTED_CLIENTS)
    return row("server_commands", plain=[asked], warm=[waited], unit="commands")


def commands_of_server(trace, events, first, counted):
    """How many commands the program asked for, and how many of these reached the device, for each of the `counted`
    clients, which came after the `first` ones. It asks for the same with each client."""
    of_clients = [event for event in events if connects(event)]
    asked = len(of_clients) // (first + counted)
    waited = [event for event in of_clients[asked * first :] if event.how in (trace.KERNEL, trace.RECORDED)]
    return asked, len(waited) / counted


def support_trace():
    sys.path.append(str(ROOT / "tests"))
    return importlib.import_module("support.trace")


def connects(event):
    return event.makes == "create_qp" or event.qp_state in MOVES


def on_model(suffix, products, runs):
    return measure(products, runs, suffix, firmware_commands)


on_model_a = functools.partial(on_model, "_a")
on_model_b = functools.partial(on_model, "_b")
