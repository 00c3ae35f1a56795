#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A child that takes a set and then diverges from its script still gets what it asks for."""

import errno

import zygotes
from support.zygote import END_SRQ
from zygotes import END, INIT, WORK

SRQ = "open pd cq srq qp:rc,srq move:init"
CHANNEL = "open channel pd cq:channel qp:rc move:init"
UD = "open pd cq qp:ud move:init,rtr,rts"
BIG = "open channel pd cq:channel cq srq qp:rc,n=4,cq=0 qp:rc,srq qp:ud move:init,all"

# What the script was recorded from, what the child does, and how many of its words fail, as without warmverbs.
OTHERWISE = {
    "cq_depth": (INIT, f"open pd cq:depth=1000 qp:rc move:init {WORK} {END}", 0),
    "cq_vector": (INIT, f"open pd cq:vector=1 qp:rc move:init {WORK} {END}", 0),
    "cq_vector_channel": (CHANNEL, f"open channel pd cq:channel,vector=1 qp:rc move:init {WORK} {END}", 0),
    "cq_two": (INIT, f"open pd cq cq:depth=500 qp:rc,cq=1 move:init {WORK} {END}", 0),
    "cq_ex": (INIT, f"open pd cq:ex qp:rc move:init {WORK} {END}", 0),
    "cq_not_ex": ("open pd cq:ex qp:rc move:init", f"{INIT} {WORK} {END}", 0),
    "cq_first": (INIT, f"open cq pd qp:rc move:init {WORK} {END}", 0),
    "qp_send": (INIT, f"open pd cq qp:rc,send=100 move:init {WORK} {END}", 0),
    "qp_less": (INIT, f"open pd cq qp:rc,send=1,recv=1 move:init {WORK} {END}", 0),
    "qp_recv": (INIT, f"open pd cq qp:rc,recv=200 move:init {WORK} {END}", 0),
    "qp_uc": (INIT, f"open pd cq qp:uc move:init {WORK} {END}", 0),
    "qp_ud": (INIT, f"{UD} traffic {END}", 0),
    "qp_ex": (INIT, f"open pd cq qp:rc,ex move:init {WORK} {END}", 0),
    "qp_not_ex": ("open pd cq qp:rc,ex move:init", f"{INIT} {WORK} {END}", 0),
    "qp_more": (INIT, f"open pd cq qp:rc,n=5 move:init,all {WORK} {END}", 0),
    "qp_fewer": ("open pd cq qp:rc,n=5 move:init,all", f"{INIT} {WORK} {END}", 0),
    "qp_none": (INIT, "open pd cq destroy:cqs destroy:pd close", 0),
    "qp_refused": (INIT, f"open pd cq qp:rc,send=1000000 qp:rc move:init,qp=0 {WORK} {END}", 1),
    "access": (INIT, f"open pd cq qp:rc query move:init,access=7 query {WORK} {END}", 0),
    "pkey": (INIT, f"open pd cq qp:rc move:init,pkey=900 query {END}", 1),
    "qkey": (UD, f"open pd cq qp:ud move:init,rtr,rts,qkey=0x2222 query {END}", 0),
    "psn": (UD, f"open pd cq qp:ud move:init,rtr,rts,psn=77 query traffic {END}", 0),
    "query_first": (INIT, f"open pd cq qp:rc query move:init query {WORK} query {END}", 0),
    "query_ud": (UD, f"open pd cq qp:ud query move:init query move:rtr query move:rts query traffic {END}", 0),
    "rtr_first": (INIT, f"open pd cq qp:rc move:rtr query move:init {WORK} {END}", 1),
    "rts_first": (INIT, f"open pd cq qp:rc move:rts query move:init {WORK} {END}", 1),
    "reset_first": (INIT, f"open pd cq qp:rc move:reset query move:init {WORK} {END}", 0),
    "reset_after": (INIT, f"{INIT} move:reset query move:init query {WORK} {END}", 0),
    "err_first": (INIT, f"open pd cq qp:rc move:err query move:reset move:init {WORK} {END}", 1),
    "init_twice": (INIT, f"{INIT} move:init,access=3 query {WORK} {END}", 0),
    "destroyed_before_init": (INIT, f"open pd cq qp:rc destroy:qps qp:rc move:init,qp=1 {WORK} {END}", 0),
    "destroyed_and_made_again": (INIT, f"{INIT} destroy:qps qp:rc move:init,qp=1 {WORK} {END}", 0),
    "one_destroyed": ("open pd cq qp:rc,n=3 move:init,all",
                      f"open pd cq qp:rc,n=2 destroy:qp=0 move:init,all {WORK} {END}", 0),
    "pd_destroyed_at_once": (INIT, "open pd destroy:pd close", 0),
    "pd_made_again": (INIT, f"open pd destroy:pd pd cq qp:rc move:init {WORK} {END}", 0),
    "pd_second": (INIT, f"open pd pd cq qp:rc move:init {WORK} {END}", 0),
    "cq_destroyed_at_once": (INIT, "open pd cq destroy:cqs destroy:pd close", 0),
    "cq_made_again": (INIT, f"open pd cq destroy:cqs cq qp:rc move:init {WORK} {END}", 0),
    "busy": (BIG, f"{BIG} destroy:pd destroy:cq=0 destroy:srq destroy:channel {END_SRQ}", 4),
    "srq_gone": (SRQ, f"{INIT} {WORK} {END}", 0),
    "srq_new": (INIT, f"{SRQ} {WORK} {END_SRQ}", 0),
    "srq_depth": (SRQ, f"open pd cq srq:depth=500 qp:rc,srq move:init {WORK} {END_SRQ}", 0),
    "srq_unused": (SRQ, f"open pd cq srq qp:rc move:init {WORK} {END_SRQ}", 0),
    "channel_gone": (CHANNEL, f"{INIT} {WORK} {END}", 0),
    "channel_new": (INIT, f"{CHANNEL} move:rtr,rts traffic:events destroy:qps destroy:cqs destroy:channel close", 0),
    "channel_unused": (CHANNEL, f"open channel pd cq qp:rc move:init {WORK} {END}", 0),
    "channel_destroyed": (CHANNEL, f"open channel pd destroy:channel cq qp:rc move:init {WORK} {END}", 0),
    "closed_at_once": (INIT, f"open close {INIT} {WORK} {END}", 0),
    "closed_with_objects": (BIG, f"open pd close open pd cq srq close {INIT} move:init,all", 0),
    "opened_again": (INIT, f"{INIT} {WORK} {END} {INIT} {WORK} {END}", 0),
    "second_open": (INIT, f"{INIT} open pd cq qp:rc,cq=1 move:init {WORK}", 0),
    "opened_with_attributes": (INIT, f"open:dv pd cq qp:rc move:init {WORK} {END}", 0),
    "allocators": (INIT, f"open allocators pd cq qp:rc move:init {WORK} {END}", 0),
    "parent": (INIT, f"open pd parent cq:ex qp:rc move:init {WORK}", 0),
    "attributes": (INIT, f"open attributes pd attributes cq qp:rc move:init attributes {WORK} {END}", 0),
    "event": (INIT, f"{INIT} move:rtr,rts traffic {END}", 0),
    "memory_first": (INIT, f"open pd mr cq qp:rc mr move:init {WORK} destroy:mr {END}", 1),
    "flow": (INIT, f"{INIT} flow {WORK}", 1),
    "much_else": (BIG, f"open pd cq:depth=50 qp:uc move:init {WORK} {END}", 0),
    "all_of_it": (INIT, f"{BIG} move:rtr,rts,all traffic:qp=4 traffic:qp=5 {END_SRQ}", 0),
}


class Differing(zygotes.Case):
    def check(self, script, words, failures):
        plain = self.plain(words)[0]
        self.assertEqual(sum(" failed: " in line for line in plain[1]), failures, plain)
        started = self.taught(script)
        for _ in range(2):
            child = started.run(words)
            self.assertEqual(child.shape, plain, started.errors())
            self.assert_took(child, opens=not words.startswith("open:dv"))
            self.await_sets(zygotes.SETS, more=True)
        self.finish(started)


    def after_failure(self, started):
        """What a child does after the kernel has refused to destroy a queue pair that is ready, and not moved yet."""
        child = started.fork(f"open pd cq qp:rc at:here destroy:qps query move:init query {WORK} {END}").reach("here")
        zygotes.bed.ctl("fail", "destroy_qp", errno.EBUSY, 1, 1, child.pid)
        child.go_on()
        return child.finish()

    def test_destroy_fails(self):
        plain = self.start(warm=False)
        expected = self.after_failure(plain)
        self.assertEqual(plain.end(), 0)
        self.assertEqual(expected.status, 1, expected.output)
        started = self.taught(INIT)
        child = self.after_failure(started)
        self.assertEqual(child.shape, expected.shape, started.errors())
        self.assert_took(child, opens=1)
        self.finish(started)


def add_cases():
    for name, (script, words, failures) in OTHERWISE.items():
        def check(self, script=script, words=words, failures=failures):
            self.check(script, words, failures)
        setattr(Differing, f"test_{name}", check)


add_cases()
if __name__ == "__main__":
    zygotes.main()
