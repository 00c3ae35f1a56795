# SPDX-License-Identifier: BSD-2-Clause
"""The programs that are run: commands, and what of their output is the same in every correct run."""

import dataclasses
import re

END = "destroy:qps destroy:cqs destroy:pd close"
END_SRQ = "destroy:qps destroy:srq destroy:cqs destroy:pd close"
SMALL = "open pd cq qp:rc move:init"
OPEN = "open pd destroy:pd close"
FEW = "traffic:rounds=4"  # messages are polled for, and what spins keeps the stand-in from its work


def words_shape(output):
    """The words' own lines: others say what differs between any two runs, such as numbers."""
    return [line for line in output.splitlines() if not line.startswith(("#", "@"))]


def exact(output):
    return output.splitlines()


def without_numbers(output):
    """perftest prints infinite times where it takes the machine's clock for unsteady."""
    text = re.sub(r"0x[0-9a-fA-F]+|[0-9a-fA-F:.]*\d[0-9a-fA-F:.]*%?|\binf\b|-?\bnan\b", "#", output)
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
    return [line for line in lines if line]


@dataclasses.dataclass(frozen=True)
class Program:
    """A command, or a server and a client. In the words, PORT is a port of their own, ADDRESS where the server is,
    FOLDER a folder of their own. @ready: how to see that the server listens: "tcp", "cm" or "said"."""

    commands: tuple
    shape: object = exact
    env: dict = dataclasses.field(default_factory=dict)
    ready: str = ""


def words(text):
    return Program((("words", *text.split()),), words_shape)


def pair(*command, ready="tcp", server=(), client=("ADDRESS",), shape=without_numbers):
    return Program(((*command, *server), (*command, *client)), shape, ready=ready)


def forks(how):
    return Program((("forks",),), env={"FORKS": how})


def prefork_server(workers, each, requests):
    server = ("prefork", "serve", "FOLDER/server", str(workers), str(each), str(requests))
    return Program((server, ("prefork", "ask", "FOLDER/server", str(requests))), ready="said",
                   env={"WARMVERBS_PREFORK": "3"})


STANDIN_PROGRAMS = {
    "rc": words(f"{SMALL} move:rtr,rts {FEW} query {END}"),
    "unread": words("open pd cq qp:rc move:init exit"),
    "ud": words(f"open pd cq qp:ud move:init,rtr,rts {FEW} query qp:uc move:init,rtr,rts {FEW}"),
    "srq": words(f"open channel pd cq:channel srq qp:rc,srq move:init,rtr,rts traffic:events query {END_SRQ}"),
    "dc": words(f"open pd cq:ex srq qp:dci qp:dct,srq move:init,rtr,qp=1 move:init,rtr,rts,qp=0 {FEW},dc"),
    "many": words(f"open pd cq cq:ex qp:rc,cq=0,n=8 move:init,rtr,rts,all {FEW},qp=0 {FEW},qp=7 {END}"),
    "twice": words(f"{SMALL} {END} {SMALL} move:rtr,rts {FEW} {END}"),
    "diverging": words(f"open pd cq cq:depth=300 qp:rc qp:rc,send=100 move:init,all move:rtr,rts,all {FEW},qp=1"),
    "forking": words(f"open fork:exit pd fork:crash cq qp:rc move:init fork:now move:rtr,rts {FEW} {END}"),
    "turns": words(f"{SMALL} turn:child query turn:parent move:rtr,rts {FEW} turn:end {END}"),
    "crashing": words(f"{SMALL} move:rtr,rts {FEW} crash"),
    "execing": words(f"{SMALL} exec"),
    "dc_pingpong": pair("dc_pingpong", "-p", "PORT", "-n", "10"),
    "dc_pingpong events": pair("dc_pingpong", "-p", "PORT", "-n", "50", "-e", "-s", "1"),
    "rc_pingpong": pair("ibv_rc_pingpong", "-g", "1", "-p", "PORT", "-n", "20", "-c"),
    "srq_pingpong": pair("ibv_srq_pingpong", "-g", "1", "-p", "PORT", "-n", "100", "-c", "-e"),
    "forks own": forks("own"),
    "forks closing": forks("child-closes-all"),
    "forks vfork": forks("vfork"),
    "forks spawn": forks("spawn"),
    "objects": Program((("objects",),)),
    "threads": Program((("threads",),)),
    "prefork": prefork_server(4, 2, 12),
    "prefork of one": prefork_server(2, 1, 8),
}

# None whose children use what they inherit: plainly the kernel refuses that here (docs/fork.md).
RXE_PROGRAMS = {
    "rc_pingpong": pair("ibv_rc_pingpong", "-g", "1", "-p", "PORT", "-n", "200", "-c"),
    "rc_pingpong events": pair("ibv_rc_pingpong", "-g", "1", "-p", "PORT", "-n", "100", "-c", "-e"),
    "uc_pingpong": pair("ibv_uc_pingpong", "-g", "1", "-p", "PORT", "-n", "100", "-c"),
    "srq_pingpong": pair("ibv_srq_pingpong", "-g", "1", "-p", "PORT", "-n", "100", "-c"),
    "rping": Program((("rping", "-s", "-a", "ADDRESS", "-p", "PORT", "-C", "10", "-v", "-V"),
                      ("rping", "-c", "-a", "ADDRESS", "-p", "PORT", "-C", "10", "-v", "-V")), without_numbers,
                     ready="cm"),
    "write_lat": pair("ib_write_lat", "-x", "1", "-p", "PORT", "-F", "-n", "100"),
    "send_bw": pair("ib_send_bw", "-x", "1", "-p", "PORT", "-F", "-n", "100", "-e"),
    "forks own": forks("own"),
    "forks closing": forks("child-closes-all"),
    "forks vfork": forks("vfork"),
    "forks spawn": forks("spawn"),
    "objects": Program((("objects",),)),
    "threads": Program((("threads",),)),
    "prefork": prefork_server(4, 2, 12),
    "prefork of one": prefork_server(2, 1, 8),
}

# What children of a zygote do.
STORMS = {
    "rc": f"{SMALL} move:rtr,rts,all {FEW} {END}",
    "large": f"open channel pd cq:channel srq qp:rc,n=4 qp:rc,srq qp:ud move:init,rtr,rts,all {FEW},qp=4 {END_SRQ}",
    "nested": f"fork:exit open fork:exit pd fork:crash cq qp:rc move:init,rtr,rts {FEW} {END}",
    "diverging": f"open pd cq:depth=300 qp:rc,send=100 qp:rc move:init,rtr,rts,all {FEW} {END}",
    "idle": "fork:now exit",
}

# What children do that are there to use leases up.
EATERS = {
    "8 opens": " ".join([OPEN] * 8),
    "4 opens": " ".join([OPEN] * 4),
    "2 queue pairs": " ".join([f"{SMALL} {END}"] * 2),
    "traffic": f"{SMALL} move:rtr,rts traffic:rounds=2 {END}",
}
