#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that are connected to a service by its name: what arrives, what ends, and what is refused."""

import signal

from support import bed, cases
import talking

EXAMPLE = str(bed.BUILD / "docs/examples/example_service")
CONNECTED = ["connect", "regions 1 data "]
DONE = "completion: success"


class Calls(talking.Case):
    def check_traffic(self, server, client, conn=0):
        """Each of the two sees what the other writes."""
        self.assertEqual(client.say(f"write {conn} text=from-the-client"), [DONE])
        self.assertEqual(server.say("memory"), ["memory from-the-client"])
        self.assertEqual(client.say(f"read {conn}"), [DONE, "read from-the-client"])

    def test_other_node(self):
        for warm in (False, True):
            with self.subTest(warm=warm):
                server = self.offer(words="text=hello ready=2", warm=warm)
                client = talking.Talker(self.a, warm=warm)
                self.assertEqual(self.call(client), ["connect", "regions 1 data hello"])
                self.assertEqual(server.next(), ["came 0"])
                self.check_traffic(server, client)
                server.end()

    def test_this_node(self):
        server, client = self.offer(), talking.Talker(self.b)
        for i, node in enumerate(("", "node=localhost", f"node={self.b.address}")):
            with self.subTest(node=node):
                self.assertEqual(client.say(f"connect store {node}"), CONNECTED)
                self.assertEqual(server.next(), [f"came {i}"])
        self.check_traffic(server, client, 2)

    def test_example(self):
        """docs/examples/service.c: its own service, from the other node."""
        env = {"WARMVERBS_SOCKET": str(self.b.daemon.socket)}
        server = self.b.start("", False, program=EXAMPLE, env=env)
        self.assertEqual(server.process.stdout.readline(), "offered\n")
        env = {"WARMVERBS_SOCKET": str(self.a.daemon.socket)}
        client = self.a.start(self.b.address, False, program=EXAMPLE, env=env).finish()
        self.assertEqual((client.status, client.lines), (0, ["good morning"]), client.errors)
        server.process.stdin.close()
        self.assertEqual(server.process.wait(bed.LIMIT_S), 0)

    def test_messages(self):
        """A message waits for the receive that the service posts once it knows of the client."""
        server, client = self.offer(), talking.Talker(self.a)
        self.assertEqual(self.call(client), CONNECTED)
        client.program.go_on("send 0 text=early")
        self.assertEqual(server.next(), ["came 0"])
        server.say("receive 0")
        self.assertEqual(server.say("received"), ["memory early"])

    def test_many(self):
        """More at once than are kept ready, of several clients."""
        server = self.offer(words="ready=4")
        clients = [talking.Talker(self.a) for _ in range(4)]
        for i in range(24):
            clients[i % 4].program.go_on(f"connect store node={self.b.address}")
            if i % 4 == 3:
                for client in clients:
                    self.assertEqual(client.answer(), CONNECTED)
        self.assertEqual(sorted(self.await_came(server, 24)), sorted(f"came {i}" for i in range(24)))
        self.check_traffic(server, clients[3], 5)

    def test_absent(self):
        server, client = self.offer(), talking.Talker(self.a)
        self.assertEqual(self.call(client, name="shop"), ["connect: ENOENT"])
        self.assertEqual(client.say("connect store"), ["connect: ENOENT"])  # on its own node
        self.assertEqual(client.say("connect store node=192.0.2.9"), ["connect: EHOSTUNREACH"])
        self.assertEqual(client.say("connect store node=fe80::9"), ["connect: EHOSTUNREACH"])
        self.assertEqual(self.call(client, "user=nobody"), ["connect: ENOENT"])
        self.assertEqual(self.call(client), CONNECTED)  # nothing of that has harmed
        server.say("withdraw")
        self.assertEqual(self.call(client), ["connect: ENOENT"])
        self.assertEqual(client.say("connect"), ["connect: EINVAL"])

    def test_taken(self):
        server, other = self.offer(), talking.Talker(self.b)
        self.assertEqual(other.say("offer store"), ["offer: EEXIST"])
        self.assertEqual(other.say(f"offer {'x' * 32}"), ["offer: EINVAL"])
        server.say("withdraw")
        self.assertEqual(other.say("offer store"), ["offer"])

    def test_leaving(self):
        """The service hears of clients that disconnect, end, or are killed; and clients of nothing, as plainly."""
        server = self.offer()
        clients = [talking.Talker(self.a) for _ in range(3)]
        for i, client in enumerate(clients):
            self.assertEqual(self.call(client), CONNECTED)
            self.assertEqual(server.next(), [f"came {i}"])
        clients[0].say("disconnect 0")
        self.assertEqual(server.next(), ["left 0"])
        clients[1].end()
        self.assertEqual(server.next(), ["left 1"])
        clients[2].kill()
        self.assertEqual(server.next(), ["left 2"])
        for i in range(3):
            server.say(f"disconnect {i}")
        self.assertEqual(self.call(clients[0]), CONNECTED)
        server.kill()
        self.assertNotEqual(clients[0].say("read 1")[0], DONE)

    def test_service_disconnects(self):
        server, client = self.offer(), talking.Talker(self.a)
        self.assertEqual(self.call(client), CONNECTED)
        self.assertEqual(server.next(), ["came 0"])
        server.say("disconnect 0")
        self.assertNotEqual(client.say("read 0")[0], DONE)
        client.say("disconnect 0")
        self.assertEqual(self.call(client), CONNECTED)
        self.assertEqual(server.next(), ["came 1"])  # and nothing of the first

    def test_stopped_service(self):
        """A client that did not wait to the end leaves nothing behind."""
        server, client = self.offer(), talking.Talker(self.a)
        server.program.process.send_signal(signal.SIGSTOP)
        self.assertEqual(self.call(client, "ms=200"), ["connect: ETIMEDOUT"])
        server.program.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.call(client), CONNECTED)
        events = server.next()
        while len(events) % 2 == 0:  # the first one may have come, and left
            events += server.next()
        self.assertEqual(events[-1].split()[0], "came")
        self.check_traffic(server, client)

    def test_mid_question(self):
        """A service that ends before it answers is not waited for."""
        server, client = self.offer(), talking.Talker(self.a)
        server.program.process.send_signal(signal.SIGSTOP)
        client.program.go_on(f"connect store node={self.b.address} ms=60000")
        server.kill()
        self.assertIn(client.answer(), (["connect: ECONNRESET"], ["connect: ENOENT"]))

    def test_no_daemon(self):
        client = talking.Talker(self.a, env={"WARMVERBS_SOCKET": "/nowhere"})
        self.assertEqual(self.call(client), ["connect: ECONNREFUSED"])
        self.assertEqual(client.say("offer store"), ["offer: ECONNREFUSED"])
        client = talking.Talker(self.a, env={"WARMVERBS_DISABLE": "1"})
        self.assertEqual(self.call(client), ["connect: EOPNOTSUPP"])

    def restart(self, node):
        node.daemon.stop()
        node.daemon.start()
        self.await_peers()

    def test_daemon_again(self):
        """The service is offered anew, and what is connected stays."""
        for node in self.nodes:
            with self.subTest(node=node.number):
                server, client = self.offer(), talking.Talker(self.a)
                self.assertEqual(self.call(client), CONNECTED)
                self.assertEqual(server.next(), ["came 0"])
                self.restart(node)
                self.check_traffic(server, client)
                bed.until(lambda c=client: self.call(c) == CONNECTED, "the service again")
                self.assertEqual(server.next(), ["came 1"])
                client.kill()
                self.assertEqual(server.next(), ["left 1"])
                server.end()

    def test_nodes_part(self):
        """What ends while the daemons do not reach each other is told once they do again."""
        server = self.offer()
        clients = [talking.Talker(self.a) for _ in range(2)]
        for i, client in enumerate(clients):
            self.assertEqual(self.call(client), CONNECTED)
            self.assertEqual(server.next(), [f"came {i}"])
        self.a.daemon.send_signal(signal.SIGSTOP)
        bed.until(lambda: not any(peer["state"] == "up" for peer in self.peers(self.b)), "a silent peer")
        clients[0].kill()
        self.a.daemon.send_signal(signal.SIGCONT)
        self.assertEqual(server.next(), ["left 0"])
        self.check_traffic(server, clients[1])

    def await_came(self, server, n):
        """Waits until @n clients more have come; what the server printed."""
        came = []
        while len(came) < n:
            came += server.next()
        return came

    def moves(self, client):
        return {name: n for name, n in self.a.counts(client.pid).items() if name in ("INIT2RTR_QP", "RTR2RTS_QP")}

    def test_ahead(self):
        """What is connected ahead needs no command when it is asked for."""
        server, client = self.offer(), talking.Talker(self.a)
        self.assertEqual(self.call(client, "ahead=2"), CONNECTED)
        self.await_came(server, 3)
        bed.until(lambda: self.moves(client).get("RTR2RTS_QP") == 3, "three connections of the client")
        self.b.daemon.stop()  # so that no further one can be made
        self.b.daemon.start()
        server.program.process.send_signal(signal.SIGSTOP)
        for _ in range(2):
            self.assertEqual(self.call(client, "ahead=2 ms=100"), CONNECTED)
        self.assertEqual(self.moves(client), {"INIT2RTR_QP": 3, "RTR2RTS_QP": 3})
        server.program.process.send_signal(signal.SIGCONT)
        for i in range(3):
            self.check_traffic(server, client, i)

    def test_ahead_gone(self):
        """What the service has ended meanwhile is not handed out; what is released leaves the service."""
        server, client = self.offer(), talking.Talker(self.a)
        self.assertEqual(self.call(client, "ahead=2"), CONNECTED)
        self.await_came(server, 3)
        server.kill()
        answers = [CONNECTED]  # until the daemons have told that it has ended
        bed.until(lambda: answers.append(self.call(client, "ahead=2")) or answers[-1] != CONNECTED,
                  "the end of the service")
        self.assertEqual(answers.pop(), ["connect: ENOENT"])
        server, last = self.offer(), len(answers)
        self.assertEqual(self.call(client, "ahead=2"), CONNECTED)
        self.await_came(server, 3)
        self.check_traffic(server, client, last)
        client.say("release")
        self.assertEqual(len(server.next() + server.next(1000)), 2)
        self.check_traffic(server, client, last)

    def test_fork(self):
        """A child has no part in what its parent offers, or is connected to."""
        server, client = self.offer(), talking.Talker(self.a)
        self.assertEqual(self.call(client), CONNECTED)
        self.assertEqual(server.next(), ["came 0"])
        for talker in (server, client):
            talker.say("fork ms=60000")
        client.kill()
        self.assertEqual(server.next(), ["left 0"])
        server.kill()
        bed.until(lambda: self.call(talking.Talker(self.a)) == ["connect: ENOENT"], "the end of the service")


if __name__ == "__main__":
    cases.main()
