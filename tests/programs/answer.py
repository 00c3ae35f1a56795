#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A Python program that gives each request a process of its own, which uses the device by itself.

usage: answer.py pool|processes|crashes NUMBER_OF_REQUESTS

With "processes", each line of standard input is a request; in the other ways all requests are there at once.
"""

import enum
import multiprocessing
import os
import signal
import sys
import types

from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

try:
    from pyverbs import enums
except ImportError:  # since rdma-core 65, each enum is a class
    from pyverbs import libibverbs_enums
    classes = [each for each in vars(libibverbs_enums).values() if isinstance(each, enum.EnumMeta)]
    enums = types.SimpleNamespace(**{name: value for each in classes for name, value in each.__members__.items()})

PORT, GID_INDEX, SIZE = 1, 1, 4096
AT_ONCE = 3
LIMIT_S = 60


def connect(context, qp):
    """With itself."""
    attr = QPAttr(port_num=PORT)
    attr.qp_access_flags = enums.IBV_ACCESS_LOCAL_WRITE
    qp.to_init(attr)
    gid = context.query_gid(PORT, GID_INDEX)
    route = GlobalRoute(dgid=gid, sgid_index=GID_INDEX, hop_limit=1)
    attr = QPAttr(port_num=PORT)
    attr.ah_attr = AHAttr(port_num=PORT, is_global=1, gr=route)
    attr.dest_qp_num = qp.qp_num
    attr.path_mtu = enums.IBV_MTU_1024
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
    attr.min_rnr_timer = 12
    attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, 7, 7
    qp.to_rts(attr)


def send(qp, cq, pd, text):
    """What arrives."""
    source, target = (MR(pd, SIZE, enums.IBV_ACCESS_LOCAL_WRITE) for _ in range(2))
    source.write(text, len(text))
    qp.post_recv(RecvWR(1, 1, [SGE(target.buf, SIZE, target.lkey)]))
    qp.post_send(SendWR(2, opcode=enums.IBV_WR_SEND, num_sge=1, sg=[SGE(source.buf, len(text), source.lkey)]))
    left = 2
    while left:
        n, completions = cq.poll(left)
        assert all(wc.status == enums.IBV_WC_SUCCESS for wc in completions)
        left -= n
    return target.read(len(text), 0)


def answer(number):
    signal.alarm(LIMIT_S)
    text = f"request {number}".encode()
    with Context(name=get_device_list()[0].name.decode()) as context:
        pd = PD(context)
        cq = CQ(context, 64)
        init = QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(16, 16, 1, 1))
        qp = QP(pd, init)
        connect(context, qp)
        assert send(qp, cq, pd, text) == text
        return number, qp.qp_num


def pool(n):
    with multiprocessing.Pool(AT_ONCE, maxtasksperchild=1) as workers:
        numbers = [number for number, _ in workers.imap(answer, range(n), chunksize=1)]
    # Not before: the pool forks in a thread, and a child prints again what is not flushed yet.
    yield from numbers


def processes(n):
    for number, _ in zip(range(n), sys.stdin):
        process = multiprocessing.Process(target=answer, args=(number,))
        process.start()
        process.join()
        yield number, process.exitcode


def answer_and_crash(number):
    answer(number)
    os.kill(os.getpid(), signal.SIGKILL)


def crashes(n):
    started = [multiprocessing.Process(target=answer_and_crash, args=(number,)) for number in range(n)]
    for process in started:
        process.start()
    for process in started:
        process.join()
        yield process.exitcode


def main():
    multiprocessing.set_start_method("fork")
    ways = {"pool": pool, "processes": processes, "crashes": crashes}
    for line in ways[sys.argv[1]](int(sys.argv[2])):
        print(line, flush=True)


if __name__ == "__main__":
    main()
