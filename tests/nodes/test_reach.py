#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a node whose key and adapter are an attacker's reaches on another node, by pairs: nothing of a program before
that program has connected its queue pair to the attacker's.

The attacker plays node a, after its daemon. It is told all that it has to guess otherwise: the numbers of the server
and of its shape, and the key and the address of its memory.
"""

import os
import pwd
import time

import test_pairs
from support import bed, keepers, nodes, peering
from test_pairs import NOTICE_S, ONE, OPEN

GID = 3
CONNECT = f"meet move:rtr,rts,met,gid={GID},psn=7"
ATTACKER = (f"{OPEN} qp:rc move:init,access=6 address:gid={GID},psn=7,fill=9 at:ready {CONNECT},timeout=10,retries=2 "
            "{} await at:done")
# The server's next queue pair, which has a receive while it is in INIT.
NEXT = (f" at:idle qp:rc move:init,access=6 address:gid={GID},psn=9,fill=5 post:receive at:posted meet "
        f"move:rtr,rts,met,gid={GID},psn=9,timeout=14,retries=7 at:met await at:got")
PAIR, PSN = 77, 4242
CONNECTIONS = 8  # after which the daemon knows how the server connects
LAST = 1 << 50  # a pair that there is not
RETRIES_EXCEEDED = "status 12"


class Case(test_pairs.Case):
    def become_node_a(self):
        """From now on the attacker is node a, for the daemon of node b."""
        self.a.daemon.stop()
        self.addCleanup(self.a.daemon.start)
        peer = peering.Stranger(self.b.address, self.port(), self.a.address)
        self.addCleanup(peer.close)
        certificate, key = (f"{self.certificates}/node1{end}" for end in (".pem", "-key.pem"))
        peer.shake_hands(self.authority.certificate, (certificate, key)).send(peering.hello())
        return peer

    def port(self):
        return 4818

    def say(self, peer, word, **more):
        user = pwd.getpwuid(os.getuid()).pw_name.encode()
        peer.send(peering.frame(peering.FIRST_MESSAGE, keepers.Note(word, user=user, **{"keeper": 0, **more}).body()))

    def hear(self, peer):
        return keepers.of_peer(peer.await_frame(peering.FIRST_MESSAGE))

    def ask_about(self, peer, **connection):
        """Which server that was. The daemon may hear of the connection later."""
        for _ in range(test_pairs.RUNS):
            self.say(peer, keepers.EDGE, **connection)
            self.say(peer, keepers.DROP, pair=LAST)
            heard = self.hear(peer)
            if heard.word == keepers.EDGE:
                self.assertEqual(self.hear(peer).word, keepers.DROPPED)
                return heard
            time.sleep(NOTICE_S)
        self.fail("the server is not known")

    def serve_some(self, words):
        """A server that has spares, and what the last of its clients and it have called themselves."""
        self.server = self.b.start_answered(OPEN + ONE + " at:idle arrived", "idle")
        self.serve(warm=False)
        self.server.finish()
        bed.until(lambda: self.b.daemon.recipes(self.b.name), "a recipe of the server")
        self.start_again(words)
        for _ in range(CONNECTIONS):
            client = self.claim(warm=False)
            self.let_meet(client)
            client.finish()
        return client.remarks("address")[-1].split(","), self.server.remarks("address")[-1].split(",")

    def attack(self, words, claim):
        """A pair of the attacker's queue pair and a spare of the server; the attacker's program, which is to meet that,
        and the number of the spare."""
        client, server = self.serve_some(ONE * CONNECTIONS + words)
        gids = {"gid": bytes.fromhex(client[4]), "peer_gid": bytes.fromhex(server[4])}
        peer = self.become_node_a()
        edge = self.ask_about(peer, qp_num=int(client[0]), peer_qp_num=int(server[0]), **gids)
        own = self.a.start(self.words, False)
        own.reach("ready")
        own_number = int(own.remarks("address")[-1].split(",")[0])
        ask = {"keeper": edge.keeper, "shape": edge.shape, "pair": PAIR, "qp_num": own_number, "psn": PSN,
               "peer_psn": 7, **gids}
        for _ in range(test_pairs.RUNS):
            self.say(peer, keepers.ASK, **ask)
            if (made := self.hear(peer)).word == keepers.MADE:
                break
            time.sleep(NOTICE_S)
        self.assertEqual(made.word, keepers.MADE, made)
        if claim:
            self.say(peer, keepers.CLAIMED, **ask)
            time.sleep(NOTICE_S)
        own.go_on()
        own.reach("meet")
        return own, f"{made.qp_num},{PSN},{server[2]},{server[3]},{server[4]}"

    def assert_nothing_came(self, own, address):
        own.go_on(address)
        own.reach("done")
        said = own.finish().lines
        self.assertTrue(any(RETRIES_EXCEEDED in line for line in said), said)


class Memory(Case):
    def reach(self, how):
        self.words = ATTACKER.format(how)
        own, address = self.attack(" at:idle arrived", claim=False)
        self.assert_nothing_came(own, address)
        self.assertEqual(self.server.finish().status, 0)

    def test_read(self):
        self.reach("post:read")

    def test_write(self):
        self.reach("post:write")


class Receives(Case):
    def test_message(self):
        """The server's program posts a receive early, as many do, for a client that it will accept."""
        self.words = ATTACKER.format("post:send,bytes=4000")
        own, address = self.attack(NEXT, claim=True)
        self.server.go_on()
        self.server.reach("posted")
        self.assertEqual(self.server.remarks("address")[-1].split(",")[0], address.split(",")[0])
        self.assert_nothing_came(own, address)
        honest = self.a.start(f"{OPEN} qp:rc move:init address:gid={GID},psn=7 at:ready {CONNECT},timeout=18,retries=7 "
                              "at:met post:send,bytes=3000 await at:done", False)
        honest.reach("ready")
        for program in (honest, self.server):
            program.go_on()
        nodes.meet(honest, self.server)
        for program in (honest, self.server):
            program.reach("met")
            program.go_on()
        self.server.reach("got")
        honest.finish()
        said = self.server.finish().lines
        self.assertTrue(any("3000 bytes" in line for line in said), said)
        self.assertFalse(any("4000 bytes" in line for line in said), said)


if __name__ == "__main__":
    bed.main()
