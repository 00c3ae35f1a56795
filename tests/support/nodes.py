# SPDX-License-Identifier: BSD-2-Clause
"""Two nodes on the stand-in, each with an adapter, a daemon and programs of its own.

For tests that tests/standin/run --nodes 2 starts. A test starts programs by a.start(), a.run_warm(), a.learn() and so
on, and asks the adapter of a node by a.ctl().
"""

import os
import pathlib
import shutil
import tempfile
import unittest

from . import authority, bed


class Node(bed.Runs):
    """Its programs and its daemon find no other adapter than its own."""

    name = None  # of the recipes of the test that runs

    def __init__(self, number, options):
        """@options: what the node's daemon is started with, by node."""
        place = pathlib.Path(os.environ["STANDIN_FOLDER"], str(number))
        self.number = number
        self.address = f"192.0.2.{number}"  # of the adapter's port
        self.node_env = {"SYSFS_PATH": str(place / "sys"), "STANDIN_SOCKET": str(place / "socket")}
        self.folder = bed.make_folder()
        self.addCleanup = None
        self.daemon = bed.Daemon(self.folder, options(self), env=self.node_env)

    def ctl(self, *words):
        return bed.ctl(*words, env=self.node_env)

    def counts(self, pid, kind="firmware"):
        return bed.counts(pid, kind, env=self.node_env)

    def begin(self, test):
        """Programs started from now on end with @test."""
        self.name, self.addCleanup = bed.name_of(test), test.addCleanup

    def close(self):
        """Nothing must be left on the adapter."""
        self.daemon.stop()
        bed.until(lambda: not any(self.ctl("objects").values()), f"an empty adapter; {self.ctl('objects')}")
        shutil.rmtree(self.folder)


def meet(one, other, between=lambda: None):
    """Carries the addresses of two programs of words, which then come to "meet", to each other. Calls @between when the
    first one knows the other."""
    for program in (one, other):
        program.reach("meet")
    one.go_on(other.remarks("address")[-1])
    between()
    other.go_on(one.remarks("address")[-1])


class Case(unittest.TestCase):
    """Each class of cases has two nodes, a and b."""

    @staticmethod
    def daemon_options(node):
        """Of the daemon of @node, whose number, address and folder are set."""
        return ()

    @classmethod
    def setUpClass(cls):
        cls.nodes = []
        for number in (1, 2):
            cls.nodes.append(Node(number, cls.daemon_options))
            cls.addClassCleanup(cls.nodes[-1].close)
        cls.a, cls.b = cls.nodes

    def setUp(self):
        for node in self.nodes:
            node.begin(self)


@unittest.skipIf(os.geteuid(), "the nodes have no IP addresses: only root may make a network")
class Peers(Case):
    """The daemons of the two nodes are peers."""

    @classmethod
    def setUpClass(cls):
        cls.certificates = tempfile.mkdtemp(prefix="peers.")
        cls.addClassCleanup(shutil.rmtree, cls.certificates)
        cls.authority = authority.Authority(cls.certificates)
        super().setUpClass()

    @classmethod
    def daemon_options(cls, node):
        certificate, key = cls.authority.give(f"node{node.number}", f"IP:{node.address}")
        return ["--peers", f"192.0.2.{3 - node.number}", "--peer-listen", node.address,
                "--peer-ca", cls.authority.certificate, "--peer-certificate", certificate, "--peer-key", key]
