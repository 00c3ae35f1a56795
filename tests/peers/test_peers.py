#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Daemons that are each other's peers: they connect, and connect again, whatever happens to one of them."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from support import authority, cases, peering, ports

NAMES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="wv-peers-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.port = ports.free_port()
        self.ca = authority.Authority(self.folder)

    def credentials(self, number):
        return self.ca.give(f"node{number}", f"IP:127.0.0.{number}")

    def node(self, number, peers=",".join(NAMES), credentials=None, **how):
        node = peering.Node(self.folder, number, self.port, peers, self.ca.certificate,
                            credentials or self.credentials(number), **how)
        self.addCleanup(node.stop)
        return node

    def pair(self, **how):
        """Two nodes that are each other's peers."""
        one, two = self.node(1, **how), self.node(2, **how)
        one.await_state(NAMES[1], "up")
        two.await_state(NAMES[0], "up")
        return one, two


class Connect(Case):
    def test_three_nodes_have_one_list(self):
        nodes = [self.node(number) for number in (1, 2, 3)]
        for node in nodes:
            for name in NAMES:
                node.await_state(name, "this node" if name == node.address else "up")
        for node in nodes:  # one connection with each
            peering.until(lambda node=node: node.document()["connections"] == 2, f"{node.document()}")
        text = nodes[0].ask("peers")
        self.assertEqual(text.returncode, 0)
        self.assertRegex(text.stdout, r"(?m)^127\.0\.0\.2 +127\.0\.0\.2 +up ")

    def test_round_trip_is_measured(self):
        one, _ = self.pair()
        peering.until(lambda: one.peer(NAMES[1])["round_trip_us"] > 0, "a round trip")

    def test_any_node_with_a_certificate(self):
        one = self.node(1, peers="any")
        self.assertEqual(one.document()["peers"], [])
        self.node(2).await_state(NAMES[0], "up")
        one.await_state(NAMES[1], "up")

    def test_a_node_by_name(self):
        if subprocess.run(["getent", "ahostsv4", "localhost"], capture_output=True, check=False).returncode:
            self.skipTest("this machine does not know localhost")
        self.node(1, peers="any", credentials=self.ca.give("named", "DNS:localhost,IP:127.0.0.1"))
        two = self.node(2, peers="localhost")
        self.assertEqual(two.await_state("localhost", "up")["address"], "127.0.0.1")

    def test_no_peers_no_port(self):
        one = self.node(1, peers="none")
        self.assertFalse(one.document()["on"])
        self.assertIn("no peers", one.ask("peers").stdout)
        self.assertFalse(ports.is_listened_to(self.port))

    def test_addresses_of_one_node_share_a_connection(self):
        """A node that listens everywhere is reached at two addresses, and its certificate is for both."""
        own = f"{NAMES[0]}:{ports.free_port()}"  # where the other one listens, no third one can
        one = self.node(1, peers=f"{NAMES[1]}:{self.port},{NAMES[2]}:{self.port}", options=("--peer-listen", own))
        two = self.node(2, peers="any", credentials=self.ca.give("two", "IP:127.0.0.2,IP:127.0.0.3"),
                        options=("--peer-listen", f"0.0.0.0:{self.port}"))
        peering.until(lambda: sorted(one.peer(name)["state"] for name in NAMES[1:]) == ["another address", "up"],
                      "both addresses are known")
        peering.until(lambda: one.document()["connections"] == two.document()["connections"] == 1, "one connection")

    def test_both_dial_at_once(self):
        """Each waits for the other's answer; both keep the same one of the two connections."""
        for _ in range(4):  # it depends on identities that are drawn which one is kept
            one = self.node(1)
            one.pause()
            two = self.node(2)
            two.await_state(NAMES[0], "connecting")
            two.pause()
            one.resume()
            one.await_state(NAMES[1], "connecting")
            two.resume()
            one.await_state(NAMES[1], "up")
            two.await_state(NAMES[0], "up")
            peering.until(lambda: one.document()["connections"] == two.document()["connections"] == 1, "one connection")
            self.assertEqual((one.peer(NAMES[1])["state"], two.peer(NAMES[0])["state"]), ("up", "up"))
            one.stop()
            two.stop()
        self.assertIn("another connection between the two nodes is kept", one.log() + two.log())

    def test_credentials_of_systemd(self):
        certificate, key = self.credentials(1)
        for name, file in (("peer-ca", self.ca.certificate), ("peer-certificate", certificate), ("peer-key", key)):
            shutil.copyfile(file, f"{self.folder}/{name}.pem")
        os.chmod(f"{self.folder}/peer-key.pem", 0o440)  # as systemd leaves it, beside an access list
        self.ca.certificate = "peer-ca.pem"
        one = self.node(1, credentials=("peer-certificate.pem", "peer-key.pem"),
                        env={"CREDENTIALS_DIRECTORY": self.folder})
        self.assertIsNone(one.document()["credentials"])


class Again(Case):
    def test_either_side_restarts(self):
        one, two = self.pair()
        for ended, other, how in ((one, two, signal.SIGTERM), (two, one, signal.SIGKILL)):
            ended.stop(how)
            other.await_state(ended.address, "backing off", "connecting")
            ended.start()
            other.await_state(ended.address, "up")
            ended.await_state(other.address, "up")

    def test_half_open(self):
        """A node that is stopped keeps its connections; the other one notices, and both recover."""
        one, two = self.pair()
        two.pause()
        one.await_state(NAMES[1], "backing off", "connecting")
        one.await_log("nothing was heard of it")
        two.resume()
        one.await_state(NAMES[1], "up")
        two.await_state(NAMES[0], "up")

    def test_nothing_leaks(self):
        one, two = self.pair()
        before = one.n_descriptors()
        for _ in range(3):
            two.stop(signal.SIGKILL)
            one.await_state(NAMES[1], "backing off", "connecting")
            two.start()
            one.await_state(NAMES[1], "up")
        peering.until(lambda: one.n_descriptors() <= before, f"{before} descriptors, not {one.n_descriptors()}")

    def test_new_credentials_are_read(self):
        certificate, key = self.credentials(1)
        kept = f"{self.folder}/kept.pem"
        os.rename(key, kept)
        one = self.node(1, credentials=(certificate, key))
        self.assertIn("peer-key", one.document()["credentials"])
        self.node(2)
        one.await_state(NAMES[1], "refused")
        os.rename(kept, key)
        one.await_state(NAMES[1], "up")


class Refused(Case):
    def refused(self, credentials, reasons, by=None):
        """Node 2 shows @credentials, which node 1 does not accept, for a reason that its log has."""
        one = self.node(1)
        self.node(2, credentials=credentials, options=by or ())
        one.await_state(NAMES[1], "refused")
        peering.until(lambda: re.search(reasons, one.log()), f"{reasons}: {one.log()[-3000:]}")
        self.assertRegex(one.peer(NAMES[1])["why"], reasons)
        self.assertEqual(one.ask("status").returncode, 0)

    def test_another_ca(self):
        other = authority.Authority(self.folder, "other")
        reasons = "(?i)self-signed certificate in|unable to get local issuer|unknown ca"
        self.refused(other.give("node2", "IP:127.0.0.2"), reasons, ("--peer-ca", other.certificate))

    def test_another_address(self):
        self.refused(self.ca.give("node2", "IP:127.0.0.9"), "(?i)IP address mismatch")

    def test_a_name_is_no_address(self):
        self.refused(self.ca.give("node2", "DNS:127.0.0.2,DNS:*"), "(?i)IP address mismatch")

    def test_expired(self):
        one = self.node(1, credentials=self.ca.give("node1", "IP:127.0.0.1", expired=True))
        self.assertIn("expired", one.document()["credentials"])
        self.assertIn("renew", one.log())
        self.assertEqual(one.ask("status").returncode, 0)

    def test_revoked(self):
        """Found out while the two are connected, and again when they connect anew."""
        one, two = self.pair()
        self.ca.revoke(f"{self.folder}/node2.pem")
        one.await_state(NAMES[1], "refused")
        self.assertIn("certificate revoked", one.peer(NAMES[1])["why"])
        two.stop()
        two.start()
        two.await_state(NAMES[0], "refused")
        self.assertEqual(one.peer(NAMES[1])["state"], "refused")

    def test_revoked_in_a_handshake(self):
        """Not only those that are connected: the last step of one that has begun is not the way in."""
        one, two = self.node(1, peers=NAMES[1]), self.credentials(2)
        self.ca.revoke(two[0])
        stranger = None
        while "credentials for peers were read" not in one.log():
            if stranger:
                stranger.close()
            stranger = peering.Stranger(NAMES[0], self.port, NAMES[1])
            try:
                stranger.shake_hands(self.ca.certificate, two)
            except ConnectionError:  # its first step was too late already
                stranger.close()
                peering.until(lambda: "credentials for peers were read" in one.log(), "the list is read")
                return
            time.sleep(1)
        self.addCleanup(stranger.close)
        with contextlib.suppress(OSError):
            stranger.send(peering.hello() + peering.frame(peering.PING, bytes(8)))
        self.assertIsNone(stranger.await_frame(peering.PONG))

    def test_a_key_that_others_can_read(self):
        certificate, key = self.credentials(1)
        os.chmod(key, 0o640)
        one = self.node(1, credentials=(certificate, key))
        self.assertIn("chmod 600", one.document()["credentials"])
        self.assertIn("no connections to peers", one.log())
        self.assertIn("chmod 600", one.ask("peers").stdout)


if __name__ == "__main__":
    cases.main()
