#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A peer of the cluster that says of services (src/wire/service_note.h) what no daemon says. The daemon serves on,
keeps the connection of the nodes unless a message is unsound, and believes of each node only what is its own."""

import errno
import ipaddress
import os
import pwd
import shutil
import tempfile
import unittest

from support import authority, cases, peering, ports, processes, services
from support.services import ASK, GONE, MADE, MAKING, OFFER, OFFERED, REFUSED, STILL

SOURCE = "127.0.0.4"
OTHER = "127.0.0.6"  # another peer
USER = pwd.getpwuid(os.getuid()).pw_name.encode()
LAST = 1 << 63  # a connection that there is not
MANY = 600  # more notes than may wait to be sent to a peer
FLOOD = 5000


def gid(address):
    return ipaddress.IPv6Address(f"::ffff:{address}").packed


class Case(unittest.TestCase):
    """Node 1 has a service, "store"; the test is both this and the peers."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="wv-liars-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.ca = authority.Authority(cls.folder)
        cls.own = cls.ca.give("node1", "IP:127.0.0.1")
        cls.good = {address: cls.ca.give(f"node of {address}", f"IP:{address}") for address in (SOURCE, OTHER)}

    def setUp(self):
        self.port = ports.free_port()
        self.node = peering.Node(self.folder, 1, self.port, f"{SOURCE},{OTHER}", self.ca.certificate, self.own)
        self.addCleanup(os.unlink, self.node.folder / "log")
        self.addCleanup(self.node.stop)
        self.identity = os.urandom(16)
        self.service = self.process()
        self.assertEqual(self.service.offer(), OFFERED)
        self.peer = self.connect()

    def process(self):
        process = services.Process(self.node.folder / "socket")
        self.addCleanup(process.close)
        return process

    def connect(self, source=SOURCE, **hello):
        if source == SOURCE:
            hello = {"node": self.identity, **hello}
        peer = peering.Stranger("127.0.0.1", self.port, source)
        self.addCleanup(peer.close)
        peer.shake_hands(self.ca.certificate, self.good[source]).send(peering.hello(**hello))
        self.node.await_state(source, "up")
        return peer

    def await_loss(self):
        processes.until(lambda: self.node.peer(SOURCE).get("state") != "up", "the peer is gone")

    def say(self, word, peer=None, **more):
        (peer or self.peer).send(services.Note(word, **more).frame())

    def hear(self, peer=None):
        """What node 1 says to its peer next; None: it has ended the connection."""
        body = (peer or self.peer).await_frame(services.FRAME)
        return body and services.of_peer(body)

    def hear_all(self, peer=None):
        """What node 1 says before the answer to a last question."""
        self.say(STILL, peer, number=LAST, own=LAST)
        heard = []
        while (last := self.hear(peer)).number != LAST:
            heard.append(last)
        return heard

    def ask(self, own=1, peer=None, **more):
        self.say(ASK, peer, own=own, **{"name": b"store", "client_user": USER, "gid": gid(SOURCE), "qp_num": 5, **more})

    def connected(self, own=1, **more):
        """A connection of a client on the peer; its number on node 1."""
        self.ask(own, **more)
        number = self.service.hear().own
        self.service.answer(number)
        for word, qp_num in ((MAKING, 9), (MADE, 0)):
            heard = self.hear()
            self.assertEqual((heard.word, heard.number, heard.own, heard.qp_num), (word, own, number, qp_num))
        return number

    def asked(self, client, own=1):
        """A client of node 1 asks for a service of the peer; the number of the connection on node 1."""
        client.ask(own, node=gid(SOURCE), gid=gid("127.0.0.1"))
        heard = self.hear()
        self.assertEqual((heard.word, heard.client_user.rstrip(b"\0")), (ASK, USER))
        return heard.own

    def expect_refused(self, own, error):
        heard = self.hear()
        self.assertEqual((heard.word, heard.number, heard.error), (REFUSED, own, error))

    def expect_well(self):
        """The nodes are connected, and all that there is can be used."""
        self.assertEqual(self.hear_all(), [])
        self.connected(LAST + 1)

    def knows(self, number):
        """Whether node 1 has a connection @number of the peer's."""
        self.say(STILL, number=number, own=number)
        return GONE not in [note.word for note in self.hear_all()]


class Liars(Case):
    def test_queue_pairs_of_another_node(self):
        """The service would be connected to a queue pair that did not ask for it."""
        for address in ("127.0.0.1", OTHER, "127.0.0.9"):
            self.ask(gid=gid(address))
            self.expect_refused(1, errno.EADDRNOTAVAIL)
        for nowhere in (bytes(16), b"\xff" * 16, b"\xfe\x80" + b"\1" * 14):
            self.ask(gid=nowhere)
            self.expect_refused(1, errno.EADDRNOTAVAIL)
        self.assertEqual(self.service.hear_all(), [])
        self.expect_well()

    def test_users(self):
        """A service is absent for those whom it does not admit."""
        for who in ({"client_user": b"nobody"}, {"client_user": b""}, {"client_user": b"nobody", "user": USER},
                    {"user": b"nobody"}, {"client_user": USER[:-1]}, {"client_user": USER + b","}):
            self.ask(**who)
            self.expect_refused(1, errno.ENOENT)
        self.ask(name=b"stor")
        self.expect_refused(1, errno.ENOENT)
        self.ask(name=b"")
        self.expect_refused(1, errno.ENOENT)
        self.assertEqual(self.service.hear_all(), [])
        self.expect_well()

    def test_lists_of_users(self):
        shop = self.process()
        self.assertEqual(shop.offer(b"shop", b"some,nobody,,x"), OFFERED)
        for user, error in ((b"nobody", 0), (b"x", 0), (b"some,nobody", errno.ENOENT), (b"", errno.ENOENT),
                            (b"nobod", errno.ENOENT), (b"nobody2", errno.ENOENT), (b",", errno.ENOENT)):
            self.ask(name=b"shop", user=USER, client_user=user)
            if error:
                self.expect_refused(1, error)
            else:
                self.assertEqual(shop.hear().word, ASK)
        self.expect_well()

    def test_numbers_of_another_node(self):
        """What another peer says of a connection is not believed."""
        number, other = self.connected(), self.connect(OTHER)
        client = self.process()
        waits = self.asked(client)
        for word in (GONE, MAKING, MADE, REFUSED, STILL):
            for target in (number, waits):
                self.say(word, other, number=target, own=77, qp_num=66, error=5)
        self.assertEqual([(note.word, note.number) for note in self.hear_all(other)], [(GONE, 77)] * 4)
        self.assertEqual(self.service.hear_all() + client.hear_all(), [])
        self.say(MAKING, number=waits, own=3, qp_num=8)
        self.assertEqual(client.hear().qp_num, 8)
        self.expect_well()

    def test_numbers_of_this_node(self):
        """Connections of which both ends are on node 1 are none of a peer's business."""
        client = self.process()
        client.ask()
        number = self.service.hear().own
        for word in (MAKING, MADE, REFUSED, GONE):
            self.say(word, number=number, own=1, qp_num=66)
        self.hear_all()
        self.assertEqual(client.hear_all(), [])
        self.service.answer(number)
        self.assertEqual([client.hear().qp_num, client.hear().word], [9, MADE])
        for word in (MAKING, MADE, REFUSED, GONE):
            self.say(word, number=number, own=1, qp_num=66)
        self.hear_all()
        self.assertEqual(client.hear_all() + self.service.hear_all(), [])
        self.expect_well()

    def test_numbers_that_never_were(self):
        for number in (0, 1, LAST, (1 << 64) - 1, (1 << 64) - (1 << 16)):
            for word in (MAKING, MADE, REFUSED, GONE, STILL):
                self.say(word, number=number, own=7)
        self.assertEqual({note.word for note in self.hear_all()}, {GONE})
        self.expect_well()

    def test_answers_as_a_client(self):
        """A peer's daemon whose client asked does not answer in the place of the service."""
        self.ask()
        number = self.service.hear().own
        self.say(MAKING, number=number, own=1, qp_num=66)
        self.say(MADE, number=number, own=1)
        self.say(REFUSED, number=number, own=1, error=5)
        self.assertEqual(self.hear_all(), [])
        self.service.answer(number)
        self.assertEqual([self.hear().qp_num, self.hear().word], [9, MADE])
        self.expect_well()

    def test_answers_twice(self):
        client = self.process()
        number = self.asked(client)
        self.say(MADE, number=number, own=3)
        for qp_num in (8, 66):
            self.say(MAKING, number=number, own=3, qp_num=qp_num)
        for _ in range(2):
            self.say(MADE, number=number, own=3)
        self.say(REFUSED, number=number, own=3, error=5)
        self.assertEqual([(note.word, note.qp_num) for note in client.hear_all()], [(MAKING, 8), (MADE, 0)])
        for _ in range(2):
            self.say(GONE, number=number, own=3)
        self.assertEqual([note.word for note in client.hear_all()], [GONE])
        self.expect_well()

    def test_words_of_processes(self):
        for word in (OFFER, OFFERED):
            self.say(word, own=1, name=b"store")
        self.expect_well()

    def test_the_end_before_the_answer(self):
        """A client is told that it is not connected."""
        client = self.process()
        self.say(GONE, number=self.asked(client), own=3)
        self.assertEqual(client.hear().word, REFUSED)
        self.ask()
        self.service.hear()
        self.service.close()
        heard = self.hear()
        self.assertEqual((heard.word, heard.number), (GONE, 1))

    def test_clients_that_do_not_wait(self):
        """Nothing is left of them once the peer has answered, however late."""
        client = self.process()
        numbers = [self.asked(client, own) for own in range(1, 101)]
        client.close()
        self.assertEqual(self.hear_all(), [])
        for number in numbers:
            self.say(MAKING, number=number, own=number)
        self.assertEqual([note.number for note in self.hear_all()], numbers)
        self.assertFalse(any(map(self.knows, numbers)))
        self.expect_well()


class Numbers(Case):
    """A number 0 is that of no connection: nobody could be told of its end."""

    def test_questions(self):
        self.ask(0)
        self.node.await_log("broke the protocol")

    def test_answers(self):
        self.say(MAKING, number=self.asked(self.process()), own=0)
        self.node.await_log("broke the protocol")


class Unsound(Case):
    def expect_closed(self, frame):
        before = self.node.log().count("broke the protocol")
        self.peer.send(frame)
        self.assertTrue(self.peer.is_closed())
        processes.until(lambda: self.node.log().count("broke the protocol") > before, "why it was closed")

    def test_sizes(self):
        whole = services.Note(ASK, own=1).frame()[6:]
        for body in (b"", b"\xff" * 40, whole[:-1], whole + b"\0", whole * 8):
            with self.subTest(bytes=len(body)):
                self.expect_closed(peering.frame(services.FRAME, body))
                self.restart()

    def test_notes(self):
        for what, note in services.unsound():
            with self.subTest(what):
                self.expect_closed(note.frame())
                self.restart()

    def test_unknown_frame(self):
        self.expect_closed(peering.frame(services.FRAME + 1, bytes(464)))

    def restart(self):
        """A peer that broke the protocol is kept away for a while."""
        self.node.stop()
        self.node.start()
        self.service = self.process()
        self.assertEqual(self.service.offer(), OFFERED)
        self.peer = self.connect()


class Floods(Case):
    """The connection of the nodes stays, whatever comes in numbers."""

    def tearDown(self):
        self.assertNotIn("does not read", self.node.log())

    def flood(self, say, n_answers):
        """Says FLOOD notes, and reads @n_answers to each as they come."""
        for i in range(FLOOD):
            say(i + 1)
            if i % 50 == 49:
                for _ in range(50 * n_answers):
                    self.assertTrue(self.hear())
        self.expect_well()

    def test_questions_for_nothing(self):
        self.flood(lambda i: self.ask(i, name=b"nothing"), 1)

    def test_questions_about_nothing(self):
        self.flood(lambda i: self.say(STILL, number=i, own=i), 1)

    def test_ends_of_nothing(self):
        self.flood(lambda i: self.say(GONE, number=i, own=i), 0)

    def test_a_service_that_does_not_read(self):
        """It is asked for as many as its socket has room for."""
        for i in range(1, MANY + 1):
            self.ask(i)
        refused = self.hear_all()
        self.assertTrue(refused)
        self.assertEqual({(note.word, note.error) for note in refused}, {(REFUSED, errno.EBUSY)})
        asked = self.service.hear_all()
        self.assertEqual(len(asked) + len(refused), MANY)
        self.expect_well()

    def many(self):
        """As many connections of the peer's clients."""
        return [self.connected(own) for own in range(1, MANY + 1)]

    def test_the_end_of_a_service_with_many(self):
        """Its clients are told, in more notes than may wait at a time."""
        self.many()
        self.service.close()
        gone = [self.hear() for _ in range(MANY)]
        self.assertEqual({note.word for note in gone}, {GONE})
        self.assertEqual({note.number for note in gone}, set(range(1, MANY + 1)))
        self.assertEqual(self.hear_all(), [])

    def test_lost_with_many(self):
        """Each connection is asked about when the peer is back."""
        self.many()
        self.peer.close()
        self.await_loss()
        self.peer = self.connect()
        still = [self.hear() for _ in range(MANY)]
        self.assertEqual({note.word for note in still}, {STILL})
        for note in still:
            self.say(GONE, number=note.own, own=note.number)
        self.assertEqual(self.hear_all(), [])

    def test_answers_at_once(self):
        """A service that answers many questions in one breath."""
        for i in range(1, MANY + 1):
            self.ask(i)
            if i % 50 == 0:
                self.wait_for_numbers(i)
        for note in self.numbers:
            self.service.say(REFUSED, number=note, error=errno.ENOMEM)
        answers = [self.hear() for _ in range(MANY)]
        self.assertLessEqual({note.word for note in answers}, {REFUSED, GONE})
        self.assertEqual({note.number for note in answers}, set(range(1, MANY + 1)))
        self.assertEqual(self.hear_all(), [])

    def wait_for_numbers(self, n):
        self.numbers = getattr(self, "numbers", [])
        while len(self.numbers) < n:
            self.numbers.append(self.service.hear().own)


class Lost(Case):
    """The connection to the peer is lost while one of its clients has a connection."""

    def setUp(self):
        super().setUp()
        self.number = self.connected()
        self.peer.close()
        self.await_loss()

    def test_asked_about(self):
        self.peer = self.connect()
        heard = self.hear()
        self.assertEqual((heard.word, heard.number, heard.own), (STILL, 1, self.number))
        self.assertEqual(self.service.hear_all(), [])
        self.say(GONE, number=self.number, own=1)
        self.assertEqual(self.service.hear().word, GONE)
        self.assertEqual(self.hear_all(), [])

    def test_another_peer(self):
        """It is not asked, whatever daemon it says that it is, and what it says is not believed."""
        for more in ({}, {"node": self.identity}):
            other = self.connect(OTHER, **more)
            self.assertEqual(self.hear_all(other), [])
            self.say(GONE, other, number=self.number, own=1)
            self.assertEqual(self.hear_all(other), [])
            other.close()
        self.assertEqual(self.service.hear_all(), [])
        self.peer = self.connect()
        self.assertEqual(self.hear().word, STILL)

    def test_its_daemon_was_started_again(self):
        """The client may be there still."""
        self.peer = self.connect(node=os.urandom(16))
        self.assertEqual(self.hear_all(), [])
        self.say(GONE, number=self.number, own=1)
        self.assertEqual(self.hear_all(), [])
        self.assertEqual(self.service.hear_all(), [])

    def test_its_node_was_started_again(self):
        self.peer = self.connect(node=os.urandom(16), up_us=1)
        heard = self.service.hear()
        self.assertEqual((heard.word, heard.number), (GONE, self.number))
        self.assertEqual(self.hear_all(), [])


if __name__ == "__main__":
    cases.main()
