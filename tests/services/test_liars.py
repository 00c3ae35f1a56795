#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Processes that say of services (src/wire/service_note.h) what libwarmverbs-service.so never says. The daemon
disconnects them if they break the protocol, and else gives them nothing that is another's; a real service serves on."""

import contextlib
import errno
import itertools
import os
import pwd
import signal
import struct
import threading
import time
import unittest

from support import bed, cases, services, users, wire
from support.services import ASK, GONE, MADE, MAKING, OFFER, OFFERED, REFUSED, STILL
import talking

CONNECTED = ["connect", "regions 1 data "]
DONE = "completion: success"
MANY = 600  # more notes than a socket has room for
FLOOD = 20000
MOST = 1000  # connections of a process to another, of which both are the user's own
COMERS = 3000
NOBODY = 65534  # a user with a name


class Case(talking.Case):
    """A service on b, with a client on a."""

    def setUp(self):
        super().setUp()
        self.base = self.b.daemon.n_connected_at_rest()
        self.server, self.client = self.offer(words="ready=2"), talking.Talker(self.a)
        self.n_conns = 0

    @staticmethod
    def gid(node):
        return bytes(10) + b"\xff\xff" + bytes(map(int, node.address.split(".")))

    def process(self, node=None):
        process = services.Process((node or self.b).daemon.socket)
        self.addCleanup(process.close)
        return process

    def service(self, name, node=None, list_of_users=b""):
        """A process that offers a service by hand."""
        process = self.process(node)
        bed.until(lambda: process.offer(name, list_of_users) == OFFERED, "the name, which a process before may have")
        return process

    def connect(self):
        """Another connection of the client to the service; its place in both."""
        self.assertEqual(self.call(self.client), CONNECTED)
        self.assertEqual(self.server.next(), [f"came {self.n_conns}"])
        self.n_conns += 1
        return self.n_conns - 1

    def check_traffic(self, conn):
        self.assertEqual(self.client.say(f"write {conn} text=hello"), [DONE])
        self.assertEqual(self.server.say("memory"), ["memory hello"])

    def expect_well(self):
        """Clients come to the service, and leave it; and nothing else has been heard of it."""
        self.assertEqual(self.server.next(0), [])
        conn = self.connect()
        self.check_traffic(conn)
        self.client.say(f"disconnect {conn}")
        self.assertEqual(self.server.next(), [f"left {conn}"])
        self.server.say(f"disconnect {conn}")

    def check_service(self):
        """The same, where it is not known how many connections there were."""
        client = talking.Talker(self.a)
        self.assertEqual(self.call(client), CONNECTED)
        self.assertEqual(client.say("write 0 text=hello"), [DONE])

    def expect_nothing_left(self):
        self.server.end()
        self.client.end()
        bed.until(self.is_at_rest, "the end of all connections")

    def is_at_rest(self):
        with contextlib.suppress(OSError):  # the daemon knows of too many processes still
            return self.b.daemon.n_connected_at_rest() <= self.base
        return False


class Unsound(Case):
    def expect_closed(self, *said):
        """A process that says so, first or after others, is disconnected."""
        for before in ([], [services.Note(OFFER, own=1, name=b"other").packed()]):
            process = self.process()
            for data in before + list(said):
                process.sock.send(data)
            self.assertTrue(process.is_closed())

    def test_notes(self):
        for what, note in services.unsound():
            with self.subTest(what):
                self.expect_closed(note.packed())
        self.expect_well()

    def test_words_of_daemons(self):
        for word in (OFFERED, STILL):
            self.expect_closed(services.Note(word, number=1, own=1).packed())
        self.expect_well()

    def test_offers(self):
        for more in ({"name": b""}, {"name": b"x", "data_bytes": 196, "data": b"u" * 196}):
            self.expect_closed(services.Note(OFFER, own=1, **more).packed())
        self.expect_well()

    def test_sizes(self):
        body = services.Note(ASK, own=1, name=b"store").packed()[wire.HEADER.size:]
        for data in (wire.message(wire.SERVICE), wire.message(wire.SERVICE, body[:-1]),
                     wire.message(wire.SERVICE, body + b"\0"), wire.message(wire.SERVICE, body * 8),
                     wire.message(wire.SERVICE, body, claimed=16), wire.message(wire.SERVICE, body[:64], claimed=480)):
            self.expect_closed(data)
        self.expect_well()

    def test_other_messages(self):
        """Who speaks of services speaks of nothing else."""
        for data in (wire.request(), wire.question(op="status"), wire.pool(b"x", 1)):
            process = self.service(b"other")
            process.sock.send(data)
            self.assertTrue(process.is_closed())
        self.expect_well()

    def test_descriptors(self):
        """They are closed, too."""
        before = self.n_descriptors()
        for _ in range(20):
            process = self.process()
            wire.send(process.sock, services.Note(ASK, own=1).packed(), [process.sock.fileno()] * 8)
            self.assertTrue(process.is_closed())
        bed.until(lambda: self.n_descriptors() <= before, "closed descriptors")
        self.expect_well()

    def n_descriptors(self):
        return len(os.listdir(f"/proc/{self.b.daemon.pid}/fd"))


class Liars(Case):
    def test_offer_twice(self):
        process = self.service(b"other")
        process.say(OFFER, own=1, name=b"another")
        self.assertTrue(process.is_closed())
        for name in (b"other", b"another"):  # nothing is left of it
            self.service(name).close()
        self.expect_well()

    def test_taken(self):
        """Who cannot have a name may have another."""
        process = self.process()
        self.assertEqual([process.offer(b"store") for _ in range(3)], [REFUSED] * 3)
        self.assertEqual(process.offer(b"other"), OFFERED)
        self.expect_well()

    def say_of_all(self, process, number):
        """Speaks of connections that have numbers near @number, which the daemon has given it."""
        base = (number >> 16) - 8
        for count, slot, word in itertools.product(range(base, base + 16), range(64), (MAKING, MADE, REFUSED, GONE)):
            process.say(word, number=count << 16 | slot, own=slot, error=5, qp_num=66)

    def number(self, process):
        """A number that the daemon gives now."""
        client = self.process()
        client.ask(name=b"trap")
        number = process.hear().own
        client.close()
        self.assertEqual(process.hear().word, GONE)
        return number

    def test_connections_of_others(self):
        conn = self.connect()
        process = self.service(b"trap")
        self.say_of_all(process, self.number(process))
        self.check_traffic(conn)
        self.expect_well()

    def test_questions_of_others(self):
        """Only the service that was asked answers."""
        process = self.service(b"trap")
        self.server.program.process.send_signal(signal.SIGSTOP)
        self.client.program.go_on(f"connect store node={self.b.address} ms=20000")
        time.sleep(0.2)
        self.say_of_all(process, self.number(process))
        self.assertEqual(process.hear_all(), [])
        self.server.program.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.client.answer(), CONNECTED)
        self.assertEqual(self.server.next(), ["came 0"])
        self.check_traffic(0)

    def test_answers_of_clients(self):
        """A client does not answer its own question."""
        service, client = self.service(b"other"), self.process()
        client.ask(7, name=b"other")
        number = service.hear().own
        for word in (MAKING, MADE, REFUSED):
            client.say(word, number=number, own=7, error=5, qp_num=66)
        self.assertEqual(client.hear_all() + service.hear_all(), [])
        service.answer(number)
        for word, qp_num in ((MAKING, 9), (MADE, 0)):
            heard = client.hear()
            self.assertEqual((heard.word, heard.number, heard.qp_num), (word, 7, qp_num))
        self.expect_well()

    def test_the_same_number_twice(self):
        """It is the client's own, and so are the consequences."""
        service, client = self.service(b"other"), self.process()
        for _ in range(2):
            client.ask(7, name=b"other")
        numbers = {service.hear().own for _ in range(2)}
        self.assertEqual(len(numbers), 2)
        for _ in range(3):
            client.say(GONE, own=7)
        self.assertEqual({note.number for note in service.hear_all() if note.word == GONE}, numbers)
        self.expect_well()

    def test_a_service_that_answers_twice(self):
        service, client = self.service(b"other"), self.process()
        client.ask(7, name=b"other")
        number = service.hear().own
        service.say(MADE, number=number)
        for qp_num in (9, 66):
            service.say(MAKING, number=number, qp_num=qp_num)
        for _ in range(2):
            service.say(MADE, number=number)
        service.say(REFUSED, number=number, error=5)
        self.assertEqual([(note.word, note.qp_num) for note in client.hear_all()], [(MAKING, 9), (MADE, 0)])
        for _ in range(2):
            service.say(GONE, number=number)
        self.assertEqual([note.word for note in client.hear_all()], [GONE])
        self.expect_well()

    def test_a_service_that_never_answers(self):
        """It is told that its client waits no longer: by another node, when it answers at last."""
        service = self.service(b"other")
        self.assertEqual(self.call(talking.Talker(self.b), "ms=100", name="other"), ["connect: ETIMEDOUT"])
        self.assertEqual([note.word for note in (service.hear(), service.hear())], [ASK, GONE])
        self.assertEqual(self.call(self.client, "ms=100", name="other"), ["connect: ETIMEDOUT"])
        number = service.hear().own
        service.answer(number)
        gone = service.hear()
        self.assertEqual((gone.word, gone.number), (GONE, number))
        self.expect_well()

    def test_a_service_that_ends_instead(self):
        """Its client is told at once."""
        for client in (talking.Talker(self.b), self.client):
            service = self.service(b"other")
            client.program.go_on(f"connect other node={self.b.address} ms=60000")
            service.hear()
            service.close()
            began = time.monotonic()
            self.assertEqual(client.answer(), ["connect: ECONNRESET"])
            self.assertLess(time.monotonic() - began, 30)
        self.expect_well()

    def test_foreign_queue_pairs(self):
        """A client that is told another's queue pair number reaches nobody by it."""
        service, spy = self.service(b"other"), self.process()
        spy.ask(gid=self.gid(self.a))
        number = spy.hear().qp_num  # and near it are the others of the real service
        self.assertEqual(self.server.next(), ["came 0"])
        n_connected = 0
        for qp_num in (0, (1 << 24) - 1, *range(number - 2, number + 3)):
            self.client.program.go_on(f"connect other node={self.b.address} ms=20000")
            service.answer(service.hear().own, qp_num, gid=self.gid(self.b), n_regions=1,
                           regions=struct.pack("<QQII", 4096, 4096, 1, 0))
            if self.client.answer()[0] != "connect":
                continue
            self.assertNotEqual(self.client.say(f"write {n_connected} text=evil")[0], DONE)
            n_connected += 1
        self.assertEqual(self.server.say("memory"), ["memory "])
        self.check_service()

    def test_strange_addresses(self):
        """A real service refuses what cannot be connected to, and a real client does not connect to it."""
        client = self.process()
        for i, strange in enumerate(({}, {"gid": bytes(16)}, {"gid": b"\xff" * 16}, {"gid": self.gid(self.a), "mtu": 0},
                                     {"gid": self.gid(self.a), "mtu": 255, "reads": 255, "lid": 65535})):
            client.ask(i, **strange)
            while (answer := client.hear()).word == MAKING:
                pass
            self.assertEqual(answer.number, i)
            self.assertIn(answer.word, (MADE, REFUSED))
        client.close()
        self.check_service()

    def test_client_and_service_of_itself(self):
        """Ends at each stage."""
        def asked(process):
            process.ask(7, name=b"self")
            return process.hear().own

        def made(process):
            number = asked(process)
            process.answer(number)
            self.assertEqual([process.hear().word, process.hear().word], [MAKING, MADE])
            return number

        def gone_as_client(process):
            made(process)
            process.say(GONE, own=7)
            self.assertEqual(process.hear().word, GONE)

        def gone_as_service(process):
            process.say(GONE, number=made(process))
            self.assertEqual(process.hear().word, GONE)

        def refused(process):
            process.say(REFUSED, number=asked(process), error=5)
            self.assertEqual(process.hear().error, 5)

        for play in (asked, made, gone_as_client, gone_as_service, refused):
            process = self.service(b"self")
            play(process)
            process.close()
        self.expect_well()

    def test_a_program_that_is_connected_to_itself(self):
        self.assertEqual(self.server.say("connect store"), CONNECTED)
        self.assertEqual(self.server.next(), ["came 1"])
        self.assertEqual(self.server.say("write 0 text=self"), [DONE])
        self.server.say("disconnect 0")
        self.assertEqual(self.server.next(), ["left 1"])
        self.expect_nothing_left()


@unittest.skipIf(users.why_not(), users.why_not())
class Users(Case):
    """What is said by a process of another user."""

    @classmethod
    def daemon_options(cls, node):
        return [*super().daemon_options(node), "--group", users.GROUP]

    def as_user(self, uid, play):
        """What play(process) returns, by a process of the user."""
        def speak():
            return play(services.Process(self.b.daemon.socket))
        return users.run_as(uid, speak)

    def ask(self, uid, **more):
        def play(process):
            process.ask(**more)
            answer = process.hear()
            return answer.word, answer.error
        return self.as_user(uid, play)

    def test_services_of_others(self):
        """They are absent, whoever the client says that it is."""
        root = pwd.getpwuid(0).pw_name.encode()
        for uid in (NOBODY, users.ATTACKER):
            for more in ({}, {"client_user": root}, {"user": root}, {"user": root, "client_user": root},
                         {"user": b"\0" + root}):
                self.assertEqual(self.ask(uid, **more), (REFUSED, errno.ENOENT))
        self.expect_well()

    def test_other_nodes(self):
        """A user without a name has no services there."""
        there = self.gid(self.a)
        here = self.gid(self.b)
        self.assertEqual(self.ask(users.ATTACKER, node=there, gid=here), (REFUSED, errno.EPERM))
        self.assertEqual(self.ask(NOBODY, node=there, gid=here), (REFUSED, errno.ENOENT))
        self.expect_well()

    def test_the_same_name(self):
        """Clients are connected to the service of their own user."""
        for uid in (NOBODY, users.ATTACKER):
            def play(process):
                if process.offer(b"store", b"root") != OFFERED:
                    return None
                self.expect_well()
                return process.hear_all()
            self.assertEqual(self.as_user(uid, play), [])
            self.n_conns += 1  # which that process has made

    def test_names_that_only_look_alike(self):
        """A list of users is one of whole names."""
        shop = self.service(b"shop", list_of_users=b"nobod,nobody2, nobody")
        self.assertEqual(self.ask(NOBODY, name=b"shop", user=b"root"), (REFUSED, errno.ENOENT))
        shop.close()
        shop = self.service(b"shop", list_of_users=b"x,nobody")
        done = threading.Thread(target=lambda: shop.say(REFUSED, number=shop.hear().own, error=99))
        done.start()
        self.assertEqual(self.ask(NOBODY, name=b"shop", user=b"root"), (REFUSED, 99))
        done.join()

    def test_numbers_of_others(self):
        conn, service = self.connect(), self.service(b"other")
        client = self.process()
        client.ask(7, name=b"other")
        number = service.hear().own

        def play(process):
            for count in range((number >> 16) - 8, (number >> 16) + 8):
                for slot, word in itertools.product(range(64), (MAKING, MADE, REFUSED, GONE)):
                    process.say(word, number=count << 16 | slot, own=7, error=5)
            return process.hear_all()

        self.assertEqual(self.as_user(NOBODY, play), [])
        self.assertEqual(service.hear_all() + client.hear_all(), [])
        self.check_traffic(conn)


class Floods(Case):
    def test_answers_that_are_not_read(self):
        process = self.process()
        for i in range(FLOOD):
            process.ask(i, name=b"nothing")
        self.expect_well()
        self.assertTrue(process.hear_all())
        process.close()
        self.expect_nothing_left()

    def test_questions_to_a_service_that_does_not_read(self):
        service, client = self.service(b"deaf"), self.process()
        for i in range(FLOOD // 4):
            client.ask(i, name=b"deaf")
        refused = [note for note in client.hear_all() if note.word == REFUSED]
        self.assertLessEqual({note.error for note in refused}, {errno.EBUSY})
        self.expect_well()
        self.assertLess(len(service.hear_all()), MANY)
        client.close()
        service.close()
        self.expect_nothing_left()

    def connect_many(self, service, client, n):
        for i in range(n):
            client.ask(i, name=b"deaf")
            service.answer(service.hear().own)
            self.assertEqual([client.hear().word, client.hear().word], [MAKING, MADE])

    def test_ends_that_are_not_read(self):
        """Who does not read of the ends of many connections keeps the daemon from nothing, and is told at last."""
        service, client = self.service(b"deaf"), self.process()
        n = MOST
        self.connect_many(service, client, n)
        client.close()
        time.sleep(0.5)
        before = self.cpu_s()
        time.sleep(2)
        self.assertLess(self.cpu_s() - before, 0.08 if not bed.SANITIZED else 0.8)
        self.expect_well()
        heard = {service.hear().number for _ in range(n)}
        self.assertEqual(len(heard), n)

    def cpu_s(self):
        with open(f"/proc/{self.b.daemon.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def test_comers(self):
        """Processes come, say something, and go, while a real service serves."""
        done = threading.Event()

        def come(number):
            with contextlib.suppress(OSError):
                process = services.Process(self.b.daemon.socket)
                for _ in range(number % 4):
                    (lambda: None, lambda: process.say(OFFER, own=1, name=b"n%d" % number), process.ask,
                     lambda: process.say(GONE, own=1))[number % 4]()
                process.close()

        def come_and_go():
            for number in range(COMERS):
                come(number)
            done.set()

        thread = threading.Thread(target=come_and_go)
        thread.start()
        while not done.is_set():
            if (came := self.call(self.client, "ms=20000")) == ["connect: EBUSY"]:
                continue  # of so many questions, the service has not read all yet
            self.assertEqual(came, CONNECTED)
            self.assertEqual(self.client.say(f"write {self.n_conns} text=hello"), [DONE])
            self.client.say(f"disconnect {self.n_conns}")
            self.n_conns += 1
            for event in self.server.next(0):
                if event.startswith("left"):
                    self.server.say(f"disconnect {event.split()[1]}")
        thread.join()
        self.expect_nothing_left()

    def test_talkers(self):
        """The same with whole programs, which are killed at any time."""
        for _ in range(5):
            talkers = [talking.Talker(self.a) for _ in range(4)]
            for talker in talkers:
                talker.program.go_on(f"connect store node={self.b.address} ms=20000")
            for talker in talkers:
                talker.kill()
        self.check_service()
        self.expect_nothing_left()


if __name__ == "__main__":
    cases.main()
