#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Clients, services and daemons that are killed, or stopped for a while, at any moment, with many connections. Nothing
is left of those that were killed, and the others serve on.

KILLS_SEED: of what is random, which repeats what was done, if not when.
"""

import os
import random
import signal
import time

from support import bed, cases, services
import talking

CONNECTED = ["connect", "regions 1 data "]
DONE = "completion: success"
EACH = 12  # connections of a client
CLIENTS = 3  # on each node
STEPS = 30
REST_S = 0.2


class Kills(talking.Case):
    def setUp(self):
        super().setUp()
        seed = int(os.environ.get("KILLS_SEED", random.randrange(1 << 32)))
        print(f"KILLS_SEED={seed}", flush=True)
        self.random = random.Random(seed)
        self.base = [node.daemon.n_connected_at_rest() for node in self.nodes]

    def start(self, node):
        """A client that is told to make its connections, and is not waited for."""
        client = talking.Talker(node)
        for _ in range(EACH):
            client.program.go_on(f"connect store node={self.b.address} ms=500")
        return client

    def end_of_all(self, talkers):
        for talker in talkers:
            talker.kill()
        for node, base in zip(self.nodes, self.base):
            bed.until(lambda node=node, base=base: node.daemon.n_connected_at_rest() <= base,
                      f"the end of all connections; {node.daemon.status()['clients']}")
            bed.until(lambda node=node: not any(node.ctl("objects").values()),
                      f"an empty adapter; {node.ctl('objects')}")

    def expect_well(self):
        """A service is offered anew, and reached from both nodes."""
        self.await_peers()
        server = talking.Talker(self.b)
        bed.until(lambda: server.say("offer store") == ["offer"], "the name")
        for i, node in enumerate(self.nodes):
            client = talking.Talker(node)
            bed.until(lambda c=client: self.call(c, "ms=20000") == CONNECTED, "a connection")
            self.assertEqual(client.say(f"write 0 text=hello{i}"), [DONE])
            self.assertEqual(server.say("memory"), [f"memory hello{i}"])
            client.end()
        server.end()

    def pause(self, process):
        """Stops @process for a while."""
        process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.random() * REST_S)
        process.send_signal(signal.SIGCONT)

    def restart(self, node):
        node.daemon.stop(signal.SIGKILL)
        time.sleep(self.random.random() * REST_S)
        node.daemon.start()

    def play(self, kinds):
        """What @kinds name is done in any order, at any time."""
        talkers = {"server": [self.offer(words="ready=8")],
                   "client": [self.start(node) for node in self.nodes for _ in range(CLIENTS)]}
        for _ in range(STEPS):
            kind = self.random.choice(kinds)
            who, _, what = kind.partition(" ")
            if who == "daemon":
                node = self.random.choice(self.nodes)
                self.restart(node) if what == "killed" else self.pause(node.daemon)
            else:
                all_of_them = talkers[who]
                place = self.random.randrange(len(all_of_them))
                if what == "stopped":
                    self.pause(all_of_them[place].program.process)
                else:
                    all_of_them[place].kill()
                    all_of_them[place] = self.again(who)
            time.sleep(self.random.random() * REST_S / 4)
        self.expect_no_trace(talkers)

    def again(self, who):
        if who == "client":
            return self.start(self.random.choice(self.nodes))
        server = talking.Talker(self.b)
        server.program.go_on("offer store ready=8")
        return server

    def expect_no_trace(self, talkers):
        self.end_of_all(talkers["server"] + talkers["client"])
        self.expect_well()
        self.end_of_all([])

    def test_clients(self):
        self.play(["client killed", "client stopped"])

    def test_services(self):
        self.play(["server killed", "server stopped", "client killed"])

    def test_daemons(self):
        self.play(["daemon killed", "daemon stopped", "client killed"])

    def test_all(self):
        self.play(["client killed", "client stopped", "server killed", "server stopped", "daemon killed",
                   "daemon stopped"])


class Many(talking.Case):
    """More connections between two nodes than there is room for notes about (src/daemon/peers/outbox.h). Processes that
    speak by hand have so many in a short time."""

    n = 1200
    clients = 4

    def setUp(self):
        super().setUp()
        self.service = self.process(self.b)
        self.assertEqual(self.service.offer(), services.OFFERED)
        self.numbers = {}
        self.all = []
        for _ in range(self.clients):
            client = self.process(self.a)
            self.all.append(client)
            self.numbers[client] = {self.connect(client, own) for own in range(1, self.n // self.clients + 1)}

    def process(self, node):
        process = services.Process(node.daemon.socket)
        self.addCleanup(process.close)
        return process

    def connect(self, client, own):
        """The number of the connection, as the service knows it."""
        here, there = (bytes(10) + b"\xff\xff" + bytes(map(int, node.address.split("."))) for node in self.nodes)
        client.ask(own, node=there, gid=here)
        number = self.service.hear().own
        self.service.answer(number)
        self.assertEqual([client.hear().word, client.hear().word], [services.MAKING, services.MADE])
        return number

    def expect_gone(self, clients):
        """The service hears that these have gone, and of no other."""
        numbers = set().union(*(self.numbers[client] for client in clients))
        heard = [self.service.hear() for _ in numbers]
        self.assertEqual({note.word for note in heard}, {services.GONE})
        self.assertEqual({note.number for note in heard}, numbers)
        self.assertEqual(self.service.hear_all(), [])

    def tearDown(self):
        for node in self.nodes:
            self.assertNotIn("does not read", node.daemon.log())

    def test_clients_end(self):
        for client in self.all[1:]:
            client.close()
        self.expect_gone(self.all[1:])
        self.connect(self.all[0], 1)

    def test_service_ends(self):
        self.service.close()
        for client in self.all:
            heard = [client.hear() for _ in self.numbers[client]]
            self.assertEqual({(note.word, note.number) for note in heard},
                             {(services.GONE, own) for own in range(1, len(heard) + 1)})

    def test_daemons_part(self):
        """All that ended meanwhile is told, and what has not stays."""
        self.a.daemon.send_signal(signal.SIGSTOP)
        bed.until(lambda: not any(peer["state"] == "up" for peer in self.peers(self.b)), "a silent peer")
        for client in self.all[1:]:
            client.close()
        self.a.daemon.send_signal(signal.SIGCONT)
        self.await_peers()
        self.expect_gone(self.all[1:])
        self.connect(self.all[0], 1)


if __name__ == "__main__":
    cases.main()
