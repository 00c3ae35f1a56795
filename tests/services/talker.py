# SPDX-License-Identifier: BSD-2-Clause
"""What talker.c does, in Python; of its options, those that are no library's own matter."""

import errno
import os
import select
import signal
import sys
import time

import warmverbs_service
from warmverbs_verbs import (CQ, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE,
                             IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_SEND, MR, PD, Context, QPInitAttr)

LIMIT_S = 100
PATIENCE_S = 20
TEXT_BYTES = 64  # of messages, and of what is read and written
BYTES = 4096
NAMES = {**errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP"}  # which has two
ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE


class Talker:
    def __init__(self):
        context = Context()
        self.pd = PD(context)
        self.cq = CQ(context, 4096)
        self.own, self.reached = MR(self.pd, BYTES, ALL), MR(self.pd, bytearray(BYTES), ALL)
        self.qp = QPInitAttr(self.cq, self.cq)
        self.offered, self.all = None, []

    def offer(self, name="", text="", users=None, ready="1"):
        self.offered = warmverbs_service.Offer(name, pd=self.pd, qp=self.qp,
                                               access=IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
                                               ready=int(ready), mrs=[self.reached], data=text.encode(), users=users)
        print("offer")

    def next(self, ms="0"):
        select.select([self.offered], [], [], int(ms) / 1000)
        for kind, connection in self.offered:
            if kind == warmverbs_service.CAME:
                self.all.append(connection)
            print({warmverbs_service.CAME: "came", warmverbs_service.LEFT: "left"}[kind], self.all.index(connection))

    def connect(self, name="", node=None, user=None, ms="1000", ahead="0"):
        made = warmverbs_service.connect(name, node, user, pd=self.pd, qp=self.qp, timeout=int(ms) / 1000,
                                         ahead=int(ahead))
        print(f"connect\nregions {len(made.regions)} data {made.data.decode()}")
        self.all.append(made)

    def work(self, number, opcode):
        connection = self.all[int(number)]
        region = connection.regions[0] if connection.regions else warmverbs_service.Region(0, 0, 0)
        connection.qp.post_send(opcode, [self.own.sge(length=TEXT_BYTES)], region.addr, region.rkey)
        print("completion:", "success" if self.completion().status == 0 else "an error")

    def completion(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            for found in self.cq.poll(1):
                return found
            time.sleep(0.001)
        raise TimeoutError("no completion")

    def put(self, text):
        self.own.memory[:TEXT_BYTES] = text.encode().ljust(TEXT_BYTES, b"\0")

    def write(self, number, text):
        self.put(text)
        self.work(number, IBV_WR_RDMA_WRITE)

    def read(self, number):
        self.put("")
        self.work(number, IBV_WR_RDMA_READ)
        print("read", self.own.memory[:TEXT_BYTES].rstrip(b"\0").decode())

    def send(self, number, text):
        self.put(text)
        self.work(number, IBV_WR_SEND)

    def memory(self):
        print("memory", self.reached.memory[:TEXT_BYTES].rstrip(b"\0").decode())

    def receive(self, number):
        self.all[int(number)].qp.post_recv([self.reached.sge(length=TEXT_BYTES)])

    def received(self):
        self.completion()
        self.memory()

    def disconnect(self, number):
        self.all[int(number)].disconnect()

    def withdraw(self):
        self.offered.withdraw()

    def release(self):
        warmverbs_service.release(self.pd)

    def fork(self, ms):
        """A child that tries to end what is its parent's, and lives for as long as is said."""
        if not os.fork():
            for ended in filter(None, [self.offered, *self.all, self.own, self.reached, self.cq, self.pd]):
                ended.close()
            time.sleep(int(ms) / 1000)
            os._exit(0)

    def do(self, line):
        words = line.split()
        options = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        try:
            getattr(self, words[0])(*[word for word in words[1:] if "=" not in word], **options)
        except OSError as error:
            print(f"{words[0]}: {NAMES[error.errno]}\n# {error}")


def main():
    signal.alarm(LIMIT_S)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    talker = Talker()
    print("@ready", flush=True)
    for line in sys.stdin:
        talker.do(line)
        print("@ready", flush=True)


if __name__ == "__main__":
    main()
