#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A peer of the cluster that says of pairs (src/wire/pair.h) what no daemon says, or whose node is lost, and a server
process that never answers. The daemon between them serves on, keeps count, and gives nobody what is another's."""

import dataclasses
import ipaddress
import os
import pwd
import shutil
import socket
import tempfile
import time
import unittest

from support import authority, cases, keepers, peering, ports, wire

SOURCE = "127.0.0.4"
OTHER = "127.0.0.6"  # another peer
MOST = 256  # pairs of a server process
SHAPE = 9
LAST = 1 << 50  # a pair that there is not
WAIT_S = 60


def gid(address):
    return ipaddress.IPv6Address(f"::ffff:{address}").packed


def note(word, **more):
    """A frame with a note about the server on node 1, of the user of this test."""
    user = pwd.getpwuid(os.getuid()).pw_name.encode()
    filled = {"keeper": 0, "gid": gid(SOURCE), "peer_gid": gid("127.0.0.1"), "user": user, **more}
    return peering.frame(peering.FIRST_MESSAGE, keepers.Note(word, **filled).body())


class Case(unittest.TestCase):
    """Node 1 makes pairs; the test is its peer, and a server on it whose queue pairs 777 and 778 are connected to 55 of
    its peer and of a third node."""

    pairs = "yes"

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="wv-liars-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.ca = authority.Authority(cls.folder)
        cls.own = cls.ca.give("node1", "IP:127.0.0.1")
        cls.good = {address: cls.ca.give(f"node of {address}", f"IP:{address}") for address in (SOURCE, OTHER)}

    def setUp(self):
        self.port = ports.free_port()
        self.node = peering.Node(self.folder, 1, self.port, f"{SOURCE},{OTHER}", self.ca.certificate, self.own,
                                 ["--pairs", self.pairs])
        self.addCleanup(os.unlink, self.node.folder / "log")
        self.addCleanup(self.node.stop)
        self.server = self.start_server()
        self.identity = os.urandom(16)
        self.connect()
        self.keeper = self.learn()

    def connect(self, source=SOURCE, **hello):
        if source == SOURCE:
            hello = {"node": self.identity, **hello}
        self.peer = peering.Stranger("127.0.0.1", self.port, source)
        self.addCleanup(self.peer.close)
        self.peer.shake_hands(self.ca.certificate, self.good[source]).send(peering.hello(**hello))

    def start_server(self):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(sock.close)
        sock.settimeout(WAIT_S)
        sock.connect(str(self.node.folder / "socket"))
        sock.send(keepers.Note(keepers.KEEPER, keeper=0).packed())
        for qp_num, address in ((777, SOURCE), (778, "127.0.0.5")):
            sock.send(keepers.Note(keepers.CONNECTED, keeper=0, shape=SHAPE, gid=gid("127.0.0.1"), qp_num=qp_num,
                                   peer_gid=gid(address), peer_qp_num=55).packed())
        return sock

    def hear(self):
        """What node 1 says to its peer next."""
        body = self.peer.await_frame(peering.FIRST_MESSAGE)
        return body and keepers.of_peer(body)

    def server_hears(self):
        return keepers.unpacked(self.server.recv(4096))

    def ask_about(self, qp_num=777, **more):
        self.peer.send(note(keepers.EDGE, qp_num=55, peer_qp_num=qp_num, **more))

    def hear_all(self):
        """What node 1 says before the answer to a last question."""
        self.peer.send(note(keepers.DROP, pair=LAST))
        heard = []
        while (last := self.hear()).pair != LAST:
            heard.append(last)
        return heard

    def is_silent(self):
        return not self.hear_all()

    def learn(self):
        """The number of the server. Questions may come before what the server says of its connections; then they
        are answered after it."""
        for _ in range(100):
            self.ask_about()
            if heard := self.hear_all():
                self.assertEqual({(edge.word, edge.shape) for edge in heard}, {(keepers.EDGE, SHAPE)})
                return heard[0].keeper
        raise AssertionError("the server is not known")

    def ask(self, pair, **more):
        self.peer.send(note(keepers.ASK, pair=pair, **{"keeper": self.keeper, "shape": SHAPE, "qp_num": 56, **more}))

    def expect_refused(self, pair):
        heard = self.hear()
        self.assertEqual((heard.word, heard.why, heard.pair), (keepers.REFUSED, keepers.UNKNOWN, pair))

    def expect_well(self):
        self.assertEqual(self.node.ask("status").returncode, 0)
        self.assertTrue(self.is_silent())


class Liars(Case):
    def test_queue_pairs_of_another_node(self):
        """The third node's program would not know of the pair, and be refused by the server that it connects to."""
        self.ask_about(778, gid=gid("127.0.0.5"))
        self.assertTrue(self.is_silent())
        self.ask(1, gid=gid("127.0.0.5"))
        self.expect_refused(1)
        self.expect_well()

    def test_servers_of_another_user(self):
        self.ask_about(user=b"nobody")
        self.assertTrue(self.is_silent())
        self.ask(1, user=b"nobody")
        self.expect_refused(1)
        self.expect_well()

    def test_connections_that_never_were(self):
        self.ask_about(779)
        self.assertTrue(self.is_silent())

    def test_unknown_servers(self):
        self.ask(1, keeper=self.keeper + 1)
        self.expect_refused(1)
        self.expect_well()

    def test_the_same_pair_twice(self):
        self.ask(1)
        self.assertEqual(self.server_hears().word, keepers.ASK)
        self.ask(1)
        self.expect_refused(1)
        self.expect_well()

    def test_queue_pairs_that_cannot_be(self):
        """The server is not asked: it would end its connection, and with it the pairs of all."""
        for more in ({"qp_num": 0}, {"qp_num": 1 << 24}, {"psn": 1 << 24}, {"peer_psn": 1 << 24}):
            self.ask(1, **more)
            self.expect_refused(1)
        self.ask(2)
        heard = self.server_hears()
        self.assertEqual((heard.word, heard.qp_num), (keepers.ASK, 56))
        self.expect_well()

    def test_answers_to_nothing(self):
        """Of a client's pairs there are none."""
        for word in (keepers.MADE, keepers.REFUSED, keepers.USED, keepers.CLAIMED, keepers.DROPPED):
            self.peer.send(note(word, pair=7, keeper=self.keeper))
        self.expect_well()

    def test_a_flood_of_questions(self):
        """Whoever asks about connections that no server has made takes the place of others that wait, and no memory."""
        for qp_num in range(2000):
            self.ask_about(1000 + qp_num)
        self.expect_well()

    def test_a_server_that_never_answers(self):
        """It is asked for so many pairs at most, and half of them for one node."""
        for pair in range(1, MOST // 2 + 3):
            self.ask(pair)
        for pair in (MOST // 2 + 1, MOST // 2 + 2):
            heard = self.hear()
            self.assertEqual((heard.word, heard.why, heard.pair), (keepers.REFUSED, keepers.NO_SPARE, pair))
        self.expect_well()

    def test_a_server_that_drops_its_end_again_and_again(self):
        """The client's node is told once, and the connection of the nodes stays."""
        self.ask(1)
        heard = self.server_hears()
        about = {"keeper": 0, "pair": heard.pair, "shape": SHAPE, "gid": gid("127.0.0.1"), "peer_gid": gid(SOURCE),
                 "qp_num": 900, "peer_qp_num": 56}
        self.server.send(keepers.Note(keepers.MADE, **about).packed())
        for _ in range(5000):
            self.server.send(keepers.Note(keepers.DROP, **about).packed())
        self.assertEqual([note.word for note in self.hear_all()], [keepers.MADE, keepers.LOST])
        self.expect_well()
        self.assertNotIn("does not read", self.node.log())

    def test_a_server_that_does_not_read_for_a_while(self):
        """It is told of each pair that is over, at last: until then the number of its end is no other queue pair's."""
        made = []
        for pair in range(1, MOST // 2 + 1):
            self.ask(pair, qp_num=1000 + pair)
            made.append(self.server_hears().pair)
        for word in (keepers.CLAIMED, keepers.DROP):
            for pair in range(1, MOST // 2 + 1):
                self.peer.send(note(word, pair=pair))
        time.sleep(1)
        dropped = []
        while len(dropped) < MOST // 2:
            heard = self.server_hears()
            if heard.word == keepers.DROP:
                dropped.append(heard.pair)
        self.assertEqual(sorted(dropped), sorted(made))
        self.expect_well()

    def test_a_node_that_asks_for_all_ends_of_a_server(self):
        for pair in range(1, MOST + 1):
            self.ask(pair)
        self.hear_all()
        self.connect(OTHER)
        self.ask(1, gid=gid(OTHER))
        self.assertTrue(self.is_silent())

    def expect_closed(self, body):
        self.peer.send(peering.frame(peering.FIRST_MESSAGE, body))
        self.assertTrue(self.peer.is_closed())
        self.assertEqual(self.node.ask("status").returncode, 0)

    def test_too_short(self):
        self.expect_closed(b"\xff" * 40)

    def test_unknown_word(self):
        self.expect_closed(keepers.Note(99).body())

    def test_unknown_reason(self):
        self.expect_closed(keepers.Note(keepers.ASK, why=99).body())

    def test_endless_name(self):
        self.expect_closed(keepers.Note(keepers.ASK, user=b"x" * 32).body())


class Local(Case):
    """Pairs on this node only."""

    pairs = "local"

    def learn(self):
        return 1

    def test_peers_get_none(self):
        self.ask(1)
        self.expect_refused(1)


class Lost(Case):
    """The connection to the peer is lost while there is a pair, for a client that the server has not met yet."""

    def setUp(self):
        super().setUp()
        self.ask(1)
        asked = self.server_hears()
        self.server.send(dataclasses.replace(asked, word=keepers.MADE, qp_num=88, gid=asked.peer_gid,
                                             peer_gid=asked.gid).packed())
        self.assertEqual(self.hear().word, keepers.MADE)
        self.peer.close()

    def test_withheld(self):
        """The client's node may be started again, and its next queue pair have the number of the one before."""
        self.assertEqual(self.server_hears().word, keepers.LEAVE)

    def test_asked_about(self):
        self.server_hears()
        self.connect()
        self.assertEqual(self.hear().word, keepers.STILL)

    def test_its_daemon_was_started_again(self):
        """Nothing of the pair is left: the daemon before had its other end, and no program has."""
        self.server_hears()
        self.connect(node=os.urandom(16))
        self.assertEqual(self.server_hears().word, keepers.DROPPED)
        self.assertTrue(self.is_silent())

    def test_its_daemon_was_started_again_but_a_program_has_the_end(self):
        self.server_hears()
        self.connect()
        self.peer.send(note(keepers.CLAIMED, pair=1))
        self.assertEqual(self.hear().word, keepers.STILL)
        self.peer.close()
        self.connect(node=os.urandom(16))
        self.assertEqual(self.hear().word, keepers.STILL)

    def test_another_peer(self):
        """It is not asked, and what it says of the pair is not believed."""
        self.server_hears()
        self.connect(OTHER)
        self.assertTrue(self.is_silent())
        self.peer.send(note(keepers.FORGOTTEN, pair=1))
        self.assertTrue(self.is_silent())
        self.peer.close()
        self.connect()
        self.assertEqual(self.hear().word, keepers.STILL)

    def test_started_again(self):
        """All queue pairs of the client's node are gone."""
        self.server_hears()
        self.connect(up_us=1)
        self.assertEqual(self.server_hears().word, keepers.DROPPED)
        self.assertTrue(self.is_silent())


if __name__ == "__main__":
    cases.main()
