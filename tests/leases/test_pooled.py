#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""With a pooled lease a program gives no firmware command before its queue pairs need a peer."""

import unittest

from support import bed

OPEN = {"CREATE_UCTX": 1, "ALLOC_TRANSPORT_DOMAIN": 1, "QUERY_SPECIAL_CONTEXTS": 1, "QUERY_HCA_CAP": 1,
        "QUERY_ADAPTER": 1, "QUERY_NIC_VPORT_CONTEXT": 2, "ACCESS_REG": 1, "ALLOC_UAR": 1}
PEERLESS = {"rc": "init", "uc": "init", "ud": "init,rtr,rts", "dci": "init,rtr,rts", "dct": "init,rtr"}

# Firmware commands of each verb without warmverbs, in the order in which a program gives them.
VERBS = [
    ("open", OPEN),
    ("pd", {"ALLOC_PD": 1}),
    ("channel", {}),
    ("cq", {"CREATE_CQ": 1}),
    ("srq", {"CREATE_RMP": 1}),
    ("qp:rc", {"CREATE_QP": 1, "ALLOC_UAR": 1}),
    ("move:init", {"RST2INIT_QP": 1}),
    ("move:rtr", {"INIT2RTR_QP": 1}),
    ("move:rts", {"RTR2RTS_QP": 1}),
    ("qp:rc,srq", {"CREATE_QP": 1}),  # shares a UAR page with the first
    ("qp:ud", {"CREATE_QP": 1, "ALLOC_UAR": 1}),
    ("move:init", {"RST2INIT_QP": 1}),
    ("move:rtr", {"INIT2RTR_QP": 1}),
    ("move:rts", {"RTR2RTS_QP": 1}),
    ("qp:dci", {"CREATE_QP": 1}),
    ("move:init", {"RST2INIT_QP": 1}),
    ("move:rtr", {"INIT2RTR_QP": 1}),
    ("move:rts", {"RTR2RTS_QP": 1}),
    ("qp:dct,srq", {}),
    ("move:init", {}),
    ("move:rtr", {"CREATE_DCT": 1}),
]

# What comes after "ready" shows that the objects work.
READY = {
    "rc": "open pd cq qp:rc move:init at:ready move:rtr,rts traffic",
    "uc": "open pd cq qp:uc move:init at:ready move:rtr,rts traffic",
    "ud": "open pd cq qp:ud move:init,rtr,rts at:ready traffic",
    "dci": "open pd cq srq qp:dci move:init,rtr,rts at:ready qp:dct,srq move:init,rtr traffic:dc",
    "dct": "open pd cq srq qp:dct,srq move:init,rtr at:ready qp:dci move:init,rtr,rts traffic:dc",
    "dc": "open pd cq srq qp:dct,srq move:init,rtr qp:dci move:init,rtr,rts at:ready traffic:dc",
    "srq": "open pd cq srq qp:rc,srq move:init at:ready move:rtr,rts traffic",
    "events": "open channel pd cq:channel qp:rc move:init at:ready move:rtr,rts traffic:events destroy:qps"
              " destroy:cqs destroy:channel",
    "cq_ex": "open pd cq:ex qp:rc move:init at:ready move:rtr,rts traffic",
    "qp_ex_rc": "open pd cq qp:rc,ex move:init at:ready move:rtr,rts traffic",
    "qp_ex_ud": "open pd cq:ex qp:ud,ex move:init,rtr,rts at:ready traffic",
    "dv_open": "open:dv pd cq qp:rc move:init at:ready move:rtr,rts traffic",
    "dv_open_devx": "open:dv=1 pd cq qp:rc move:init at:ready move:rtr,rts traffic",
    "dv_qp": "open pd cq qp:rc,dv,ex move:init at:ready move:rtr,rts traffic",
    "many": "open pd cq:depth=1000 qp:rc,n=16 move:init,all at:ready move:rtr,rts,all traffic:rounds=3",
    "mixed": "open pd cq:depth=500 cq:ex srq:depth=100 qp:rc,cq=0,srq qp:ud,cq=1 qp:uc,cq=1 qp:rc,cq=1 move:init,all"
             " move:rtr,rts,qp=1 at:ready move:rtr,rts,qp=0 move:rtr,rts,qp=2 move:rtr,rts,qp=3 traffic",
}
TEARDOWN = " destroy:qps destroy:cqs"


class Plain(bed.Case):
    """Without leases, which would be further contexts."""

    def test_verbs_plain(self):
        plain = self.run_plain(" ".join(f"{word} at:{i}" for i, (word, _) in enumerate(VERBS)))
        self.assertEqual((plain.status, plain.failures), (0, []), plain.errors)
        before = {}
        for i, (word, expected) in enumerate(VERBS):
            given = bed.minus(plain.marks[str(i)], before)
            given.pop("MODIFY_NIC_VPORT_CONTEXT", None)  # given for the device's second context
            self.assertEqual(given, expected, f"{i}: {word}")
            before = plain.marks[str(i)]

    def test_second_context_switches_loopback_on(self):
        words = "open at:one open at:two"
        plain = self.run_plain(words)
        given = bed.minus(plain.marks["two"], {})
        self.assertEqual(given["MODIFY_NIC_VPORT_CONTEXT"], 1)


class Pooled(bed.Case):
    def check(self, words):
        """No firmware command up to "ready", and all that follows works."""
        warm = self.compare(words + TEARDOWN * ("destroy" not in words))
        self.assertEqual(warm.marks["ready"], {})
        self.assertEqual(warm.done(bed.trace.KERNEL), [])

    def test_several_opens(self):
        one = "open pd cq qp:rc move:init"
        words = f"{one} {one} {one} at:ready move:rtr,rts,all traffic"
        plain = self.run_plain(words)
        self.learn(words, n=3)
        warm = self.run_leased(words, n=3)
        self.assertEqual(warm.shape(), plain.shape())
        self.assertEqual(warm.marks["ready"], {})

    @unittest.skipIf(bed.SANITIZED, "explain puts the preload in front of what a sanitizer wants to be first")
    def test_explained(self):
        """What the trace says is what the user is shown."""
        words = READY["dc"].replace(" at:ready", "")
        self.learn(words)
        out = self.folder / "explained"
        explain = self.run_plain(["explain", "--socket", str(self.daemon.socket), "--name", self.name,
                                  "--output", str(out), "--", bed.WORDS, *words.split()], program=bed.CLI)
        self.assertEqual(explain.status, 0, explain.errors)
        text = out.read_text()
        self.assertIn("lease: 1 of 1 opens of a device", text)
        self.assertIn("(0 of them diverged from the recipe)", text)
        self.assertRegex(text, "SRQ_CREATE +lease")
        self.assertRegex(text, "modify_qp to RTR +lease")


def add_cases():
    for name, words in READY.items():
        setattr(Pooled, f"test_pooled_{name}", lambda self, words=words: self.check(words))


add_cases()
if __name__ == "__main__":
    bed.main()
