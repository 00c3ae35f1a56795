#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a daemon's port of peers makes of others: of no cluster, of another version, malformed, slow, many at once."""

import contextlib
import itertools
import os
import re
import shutil
import ssl
import tempfile
import time
import unittest

from support import authority, cases, peering, ports

SOURCE, OTHER = "127.0.0.4", "127.0.0.5"
FLOOD_S = 2


class Case(unittest.TestCase):
    """Node 1, to which 127.0.0.4 is a peer, played by the test, if its configuration does not say otherwise."""

    peers = SOURCE

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="wv-strangers-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.ca = authority.Authority(cls.folder)
        cls.own = cls.ca.give("node1", "IP:127.0.0.1")
        others = "".join(f",IP:127.0.1.{number}" for number in range(1, 20))
        cls.good = cls.ca.give("node4", f"IP:{SOURCE}{others}")

    def setUp(self):
        self.port = ports.free_port()
        self.node = peering.Node(self.folder, 1, self.port, self.peers, self.ca.certificate, self.own)
        self.addCleanup(os.unlink, self.node.folder / "log")
        self.addCleanup(self.node.stop)

    def connect(self, source=SOURCE):
        stranger = peering.Stranger("127.0.0.1", self.port, source)
        self.addCleanup(stranger.close)
        return stranger

    def connect_well(self, hello=None, **how):
        """A peer whose TLS is good; unless it is told another one, it says a good hello."""
        stranger = self.connect(**how).shake_hands(self.ca.certificate, self.good)
        stranger.send(peering.hello() if hello is None else hello)
        return stranger

    def expect_well(self):
        """The node serves its users."""
        self.assertEqual(self.node.ask("status").returncode, 0)


class Refused(Case):
    def expect_refused(self, stranger, reason):
        self.assertTrue(stranger.is_closed())
        peering.until(lambda: re.search(reason, self.node.log()), f"{reason}: {self.node.log()}")
        self.expect_well()

    def shake_badly(self, *arguments, **how):
        """In TLS 1.3 the client learns only when it reads what the server thinks of its certificate."""
        stranger = self.connect()
        with contextlib.suppress(ssl.SSLError, ConnectionError):
            stranger.shake_hands(*arguments, **how)
        return stranger

    def test_no_certificate(self):
        self.expect_refused(self.shake_badly(self.ca.certificate), "shows no certificate")

    def test_certificate_of_another_ca(self):
        other = authority.Authority(self.folder, "other")
        credentials = other.give("stranger", f"IP:{SOURCE}")
        self.expect_refused(self.shake_badly(self.ca.certificate, credentials), "its certificate: ")

    def test_expired_certificate(self):
        old = self.ca.give("old", f"IP:{SOURCE}", expired=True)
        self.expect_refused(self.shake_badly(self.ca.certificate, old), "certificate has expired")

    def test_certificate_for_another_address(self):
        other = self.ca.give("node5", f"IP:{OTHER}")
        self.expect_refused(self.shake_badly(self.ca.certificate, other), f"not for {SOURCE}")

    def test_tls_1_2(self):
        self.expect_refused(self.shake_badly(self.ca.certificate, self.good, version=ssl.TLSVersion.TLSv1_2),
                            "TLS: unsupported protocol")

    def test_no_tls(self):
        stranger = self.connect()
        stranger.send(b"GET / HTTP/1.1\r\n\r\n")
        self.expect_refused(stranger, "TLS: ")

    def test_address_of_no_peer(self):
        """It is turned away before TLS."""
        self.assertTrue(self.connect(source=OTHER).is_closed())
        self.assertEqual(self.node.document()["turned_away"], 1)

    def test_another_version(self):
        for version in (peering.VERSION + 1, 0, 0xffff):
            stranger = self.connect_well(peering.hello(version) + b"of another form")
            self.assertIn(b"version", stranger.await_frame(peering.GOODBYE))
            self.expect_refused(stranger, f"the peer speaks version {version} of the protocol, this node version "
                                          f"{peering.VERSION}")

    def test_slow_ones(self):
        """Silence, and a byte now and then, do not keep a connection."""
        silent, silent_later, slow = self.connect(), self.connect_well(b""), self.connect()
        with contextlib.suppress(ConnectionError):
            for byte in b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10:
                slow.send(bytes([byte]))
                time.sleep(0.1)
        for stranger in (silent, silent_later, slow):
            self.expect_refused(stranger, "no connection within 5 s")


class Malformed(Case):
    peers = "any"

    def test_frames(self):
        """Each ends the connection, and says so once."""
        before_hello = {
            "no hello": peering.frame(peering.PING, bytes(8)),
            "wrong magic": peering.hello(magic=1),
            "short hello": peering.frame(peering.HELLO, peering.hello()[6:-1]),
            "long hello": peering.frame(peering.HELLO, peering.hello()[6:] + b"x"),
            "oversize": peering.frame(peering.HELLO, length=peering.MOST_BODY + 1),
            "huge": peering.frame(peering.HELLO, length=0xffffffff),
        }
        after_hello = {
            "second hello": peering.hello(),
            "type 0": peering.frame(0),
            "reserved type": peering.frame(15),
            "type nobody knows": peering.frame(0xffff, b"x"),
            "short ping": peering.frame(peering.PING, b"x"),
            "oversize message": peering.frame(peering.FIRST_MESSAGE, length=peering.MOST_BODY + 1),
        }
        cases = {**before_hello, **{name: peering.hello() + data for name, data in after_hello.items()}}
        sources = (f"127.0.1.{number}" for number in range(1, 100))
        for name, data in cases.items():
            with self.subTest(name):
                # Each from an address of its own: a peer may try only once a second.
                stranger = self.connect_well(data, source=next(sources))
                self.assertIsNotNone(stranger.await_frame(peering.GOODBYE))
                self.assertTrue(stranger.is_closed())
        self.expect_well()

    def test_frames_in_pieces(self):
        stranger = self.connect_well(b"")
        for byte in peering.hello() + peering.frame(peering.PING, b"12345678"):
            stranger.send(bytes([byte]))
        self.assertEqual(stranger.await_frame(peering.PONG), b"12345678")
        self.assertEqual(self.node.peer(SOURCE)["state"], "up")

    def test_node_that_passes_for_itself(self):
        """A peer that repeats the node's own identity is no peer."""
        stranger = self.connect_well(b"")
        body = stranger.await_frame(peering.HELLO)
        stranger.send(peering.hello(node=body[6:22]))
        self.assertTrue(stranger.is_closed())
        self.assertNotEqual(self.node.peer(SOURCE)["state"], "up")


class Impostor(Case):
    """A peer that claims another one's identity, which is no secret, is a peer of its own."""

    peers = f"{SOURCE},{OTHER}"

    def setUp(self):
        super().setUp()
        self.identity = os.urandom(16)
        self.credentials = {SOURCE: self.good, OTHER: self.ca.give("node5", f"IP:{OTHER}")}

    def connect_from(self, source, number=1):
        stranger = self.connect(source=source).shake_hands(self.ca.certificate, self.credentials[source])
        stranger.send(peering.hello(node=self.identity, number=number))
        self.node.await_state(source, "up")
        return stranger

    def expect_connected(self, *strangers):
        for stranger in strangers:
            stranger.send(peering.frame(peering.PING, b"12345678"))
            self.assertEqual(stranger.await_frame(peering.PONG), b"12345678")

    def test_identity_of_another_peer(self):
        """The peer keeps its connection."""
        self.expect_connected(self.connect_from(SOURCE), self.connect_from(OTHER, number=1000))

    def test_impostor_comes_first(self):
        """It keeps the peer neither out nor from connecting anew."""
        impostor, peer = self.connect_from(OTHER, number=1000), self.connect_from(SOURCE)
        self.expect_connected(impostor, peer)
        again = self.connect_from(SOURCE, number=2)
        self.assertTrue(peer.is_closed())
        self.expect_connected(impostor, again)


class Floods(Case):
    peers = f"any,{SOURCE}"

    def flood(self, step):
        """Calls @step again and again, and asks for the status meanwhile."""
        end = time.monotonic() + FLOOD_S
        answers = 0
        while time.monotonic() < end:
            with contextlib.suppress(ssl.SSLError, ConnectionError, BlockingIOError, TimeoutError):
                step()
            if answers < (time.monotonic() - end + FLOOD_S) * 5:
                self.expect_well()
                answers += 1
        self.assertTrue(answers)

    def test_pings(self):
        """They are answered no faster than the node likes; nobody else waits."""
        stranger = self.connect_well()
        stranger.await_frame(peering.HELLO)
        stranger.tls.settimeout(0.05)
        pings = peering.frame(peering.PING, bytes(8)) * 500

        def step():
            stranger.tls.send(pings)
            stranger.tls.recv(1 << 20)

        self.flood(step)
        self.assertEqual(self.node.peer(SOURCE)["state"], "up")

    def test_peer_that_does_not_read(self):
        stranger = self.connect_well()
        stranger.tls.setblocking(False)
        pings = peering.frame(peering.PING, bytes(8)) * 1000

        def send():
            with contextlib.suppress(ssl.SSLError, ConnectionError):
                stranger.tls.send(pings)
            return "the peer does not read" in self.node.log()

        peering.until(send, "the queue is full")
        self.node.await_state(SOURCE, "refused", "backing off", "connecting")
        self.expect_well()

    def await_turned_away(self, meanwhile=lambda: None):
        peering.until(lambda: meanwhile() or self.node.document()["turned_away"], "some are turned away")

    def test_connections(self):
        """More than may be, from one address and from many: each is closed, or has its time."""
        n_before = self.node.n_descriptors()
        open_ones, numbers = [], itertools.count()

        def step():
            if len(open_ones) == 500:  # the test has few descriptors itself
                open_ones.pop(0).close()
            with contextlib.suppress(OSError):
                open_ones.append(peering.Stranger("127.0.0.1", self.port, f"127.0.{next(numbers) % 100}.9"))

        try:
            self.flood(step)
            self.assertLess(self.node.n_descriptors(), n_before + 64 + 8)
            self.await_turned_away(step)  # on a busy machine, there have been few so far
        finally:
            for one in open_ones:
                one.close()
        # The daemon may have opened a few things of its own meanwhile; of connections there were hundreds.
        peering.until(lambda: self.node.n_descriptors() <= n_before + 4, "all are closed")

    def test_silent_strangers(self):
        """As many as may be, from many addresses: a known peer has room all the same."""
        for number in range(100):
            self.connect(source=f"127.0.2.{number + 1}")
        self.await_turned_away()
        self.connect_well()
        self.node.await_state(SOURCE, "up")

    def test_silent_connections_from_a_peer_s_address(self):
        """A user of that node may make them; its daemon comes in all the same."""
        kept = []

        def step():
            kept.append(self.connect())
            time.sleep(0.02)

        self.flood(step)
        kept.append(self.connect())
        self.connect_well()
        self.node.await_state(SOURCE, "up")

    def test_handshakes(self):
        """Strangers who make the node compute."""
        def step():
            stranger = peering.Stranger("127.0.0.1", self.port, OTHER)
            try:
                stranger.shake_hands(self.ca.certificate)
            finally:
                stranger.close()

        self.flood(step)

    def test_peers_come_and_go(self):
        """A peer that connects anew again and again replaces its own connection, and no more than once a second."""
        identity, numbers = os.urandom(16), iter(range(1, 1 << 20))

        def step():
            stranger = peering.Stranger("127.0.0.1", self.port, SOURCE)
            try:
                stranger.shake_hands(self.ca.certificate, self.good)
                stranger.send(peering.hello(node=identity, number=next(numbers)))
            finally:
                stranger.close()

        n_before = self.node.n_descriptors()
        self.flood(step)
        peering.until(lambda: self.node.n_descriptors() <= n_before, "all are closed")


if __name__ == "__main__":
    cases.main()
