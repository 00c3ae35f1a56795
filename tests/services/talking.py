# SPDX-License-Identifier: BSD-2-Clause
"""Programs that offer services and are connected to services (talker.c), on two nodes whose daemons are peers."""

from support import bed, nodes

TALKER = str(bed.BUILD / "tests/services/talker")
NOTICE_MS = 20000  # until an event that is certain to come has come


class Talker:
    command, env = [TALKER], {}

    def __init__(self, node, warm=False, env=None, **kwargs):
        self.node = node
        env = {"WARMVERBS_SOCKET": str(node.daemon.socket), **self.env, **(env or {})}
        self.program = node.start(self.command[1:], warm, program=self.command[0], env=env, **kwargs)
        self.answer()

    @property
    def pid(self):
        return self.program.pid

    def answer(self):
        """The lines that it prints until it is ready for another."""
        self.program.reach("ready")
        return [line for line in self.program.take() if not line.startswith(("@", "#"))]

    def say(self, line):
        """Has it do what @line says; the lines that it prints."""
        self.program.go_on(line)
        return self.answer()

    def next(self, wait_ms=NOTICE_MS):
        return self.say(f"next ms={wait_ms}")

    def end(self):
        """Lets it end by itself."""
        self.program.process.stdin.close()
        self.program.process.wait(bed.LIMIT_S)

    def kill(self):
        self.program.process.kill()
        self.program.process.wait(bed.LIMIT_S)


class Case(nodes.Peers):
    """Services are on b."""

    def setUp(self):
        super().setUp()
        self.await_peers()

    def await_peers(self):
        """The daemons are connected to each other."""
        for node in self.nodes:
            bed.until(lambda node=node: any(peer["state"] == "up" for peer in self.peers(node)),
                      f"peers; {self.peers(node)} {node.daemon.log()[-2000:]}")

    def peers(self, node):
        return node.daemon.administrator.answer(op="peers")["peers"]

    def offer(self, node=None, words="", name="store", **kwargs):
        """A program that offers a service."""
        server = Talker(node or self.b, **kwargs)
        self.assertEqual(server.say(f"offer {name} {words}"), ["offer"])
        return server

    def call(self, client, words="", name="store", node=None):
        """Connects @client; the lines that it prints."""
        return client.say(f"connect {name} node={(node or self.b).address} {words}")
