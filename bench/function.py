# SPDX-License-Identifier: BSD-2-Clause
"""A function in Python, from its imports to the first RDMA READ. Prints when that was done, as bench/contained.c."""

import time

import numpy
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

BYTES = 4096
GID_INDEX = 1
PORT = 1
ACCESS, TYPE, READ, SIGNALED, MTU = 7, 2, 4, 2, 3  # as in infiniband/verbs.h: the names are not in the same module


def connect(context, qp):
    attr = QPAttr(port_num=PORT)
    attr.qp_access_flags = ACCESS
    attr.path_mtu = MTU
    attr.dest_qp_num = qp.qp_num
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
    attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry = 12, 14, 7, 7
    route = GlobalRoute(dgid=context.query_gid(PORT, GID_INDEX), sgid_index=GID_INDEX)
    attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=PORT)
    qp.to_rts(attr)


def main():
    context = Context(name=get_device_list()[0].name.decode())
    pd, cq = PD(context), CQ(context, 16)
    mr = MR(pd, 2 * BYTES, ACCESS)
    cap = QPCap(max_send_wr=16, max_recv_wr=1, max_send_sge=1, max_recv_sge=1)
    qp = QP(pd, QPInitAttr(qp_type=TYPE, scq=cq, rcq=cq, cap=cap))
    connect(context, qp)
    mr.write(b"w" * BYTES, BYTES)
    read = SendWR(num_sge=1, sg=[SGE(mr.buf + BYTES, BYTES, mr.lkey)], opcode=READ, send_flags=SIGNALED)
    read.set_wr_rdma(mr.rkey, mr.buf)
    qp.post_send(read)
    found = 0
    while not found:
        found, completions = cq.poll()
    if completions[0].status or numpy.frombuffer(mr.read(BYTES, BYTES), numpy.uint8).sum() != BYTES * ord("w"):
        raise SystemExit("an RDMA READ failed, or brought other data")
    print("first_completion", time.monotonic_ns())


if __name__ == "__main__":
    main()
