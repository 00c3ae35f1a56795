# SPDX-License-Identifier: BSD-2-Clause
"""Real programs that come to verbs through a library: UCX, libfabric, MPI, librdmacm, pyverbs. tools/bench warm runs
them beside those of cases_programs."""

from . import places
from .cases_programs import Pair
from .lab import cm_listening, listening

PYVERBS = f"""
from pyverbs.addr import GlobalRoute, AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
try:
    from pyverbs.enums import IBV_ACCESS_LOCAL_WRITE, IBV_QPT_UD
except ImportError:  # since rdma-core 65, each enum is a class
    from pyverbs.libibverbs_enums import ibv_access_flags, ibv_qp_type
    IBV_ACCESS_LOCAL_WRITE, IBV_QPT_UD = ibv_access_flags.IBV_ACCESS_LOCAL_WRITE, ibv_qp_type.IBV_QPT_UD
with Context(name="{places.DEVICE}") as context, PD(context) as pd, CQ(context, 16) as cq:
    with MR(pd, 4096, IBV_ACCESS_LOCAL_WRITE):
        init = QPInitAttr(qp_type=IBV_QPT_UD, scq=cq, rcq=cq, cap=QPCap(max_send_wr=16, max_recv_wr=16))
        attr = QPAttr()
        attr.qkey = 0x11111111
        with QP(pd, init, attr):
            pass
"""

# What these need on soft-RoCE, plainly too. UCX would choose the IPv4 GID, with which none of its UD packets arrives;
# libfabric would make CQs for a cluster, larger than the device has them.
ENVIRONMENT = {"UCX_IB_GID_INDEX": "0", "FI_UNIVERSE_SIZE": "8"}

# MPI may refuse root; shared memory would serve two ranks of one machine.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "--mca", "pml", "ucx", "-x", "UCX_IB_GID_INDEX",
          "-x"]


def uct(test, transport):
    command = ["ucx_perftest", "-t", test, "-x", transport, "-d", f"{places.DEVICE}:1", "-n", "100", "-w", "10"]
    return Pair(f"ucx_perftest {transport}", command, [*command, "HOST"], listening(13337))


def fabric(endpoint, provider):
    command = ["fi_pingpong", "-p", provider, "-e", endpoint, "-I", "10", "-S", "64"]
    return Pair(f"fi_pingpong {endpoint} {provider}", command, [*command, "HOST"], listening(47592))


def qperf(*tests):
    return Pair(" ".join(["qperf", *tests]), ["qperf"], ["qperf", "HOST", "-t", "1", *tests], listening(19765),
                endless=True)


def fio(*client):
    job = ["fio", "--name=job", "--ioengine=rdma", "--port=18600", "--bs=4k", "--size=64k"]
    return Pair("fio", [*job, "--rw=read"], [*job, "--hostname", "HOST", *client], cm_listening(18600))


PAIRS = [
    uct("am_lat", "rc_verbs"),
    uct("am_lat", "ud_verbs"),
    fabric("msg", "verbs"),
    fabric("rdm", "verbs;ofi_rxm"),
    fio("--verb=write", "--rw=write", "--iodepth=1"),
    qperf("-cm1", "rc_lat"),  # without librdmacm, it cannot connect on RoCE
]

SINGLE = {
    "ucx_info -d": ["ucx_info", "-d"],
    "ucx_info -e -u t": ["ucx_info", "-e", "-u", "t"],
    "mpirun NPopenmpi": [*MPIRUN, "UCX_TLS=rc,self", "NPopenmpi", "-u", "64", "-n", "5", "-o", "/dev/null"],
    "pyverbs": ["/usr/bin/python3", "-c", PYVERBS],
}
