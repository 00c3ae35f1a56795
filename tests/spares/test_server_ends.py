#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A server's ends of pairs: spares that a daemon has reserved for queue pairs of clients, which are connected to them.

The daemon is the test. The client is a plain program on the same adapter, which connects as the daemon says.
"""

import pathlib
import tempfile

from support import bed, keepers, trace, wire

SHOWING = 6
MOST = 256  # ends of a process
PSN, PEER_PSN = 0xfffffe, 0x123456  # the first that the server sends, and that the client does
OTHER_PSNS = "psn=7,rq=9"  # which the server asks for, and which nobody may use
END = " destroy:qps destroy:cqs"


GONE, RESET = -1, 0


def state(qp_num):
    """Of a queue pair, as the adapter knows it."""
    return bed.ctl("state", qp_num)["state"]


class Case(bed.Case):
    before = "open pd cq"
    kind = "qp:rc"
    init = "move:init"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()  # The real daemon knows the providers of the device.
        providers = pathlib.Path(cls.daemon.folder / "providers").read_text()
        cls.make_fake = staticmethod(lambda flags: keepers.Daemon(
            pathlib.Path(tempfile.mkdtemp(dir=cls.folder)), providers, flags))

    def start_server(self, then="listen" + END, flags=wire.PAIRS, env=None):
        """A server that has shown how it connects, to itself; it listens to words then."""
        self.fake = self.make_fake(flags)
        self.addCleanup(self.fake.stop)
        one = f" {self.kind} {self.init} move:rtr,rts"
        words = f"{self.before}{one * SHOWING} at:shown{one * 2} {then}"
        env = {"WARMVERBS_SOCKET": str(self.fake.socket), **(env or {})}
        self.server = self.start_answered(words, "shown", env=env)
        self.next_qp = SHOWING + 2

    def start_pairing(self, **kwargs):
        """The same, and the keeper knows its shape."""
        self.start_server(**kwargs)
        self.keeper = self.fake.keeper()
        self.server.go_on()
        self.server.reach("listening")
        said = bed.until(lambda: self.keeper.connected, "the server says that it has connected a queue pair")[0]
        self.shape, self.gid = said.shape, said.gid
        self.assertEqual((said.peer_gid, said.peer_qp_num), (said.gid, said.qp_num))
        return said

    def client(self, words="open pd cq qp:rc move:init"):
        """A plain program with a queue pair in INIT, and the number of that."""
        client = self.start(words + " listen", False)
        client.reach("listening")
        return client, int(client.remarks("qp")[-1])

    def tell(self, program, words):
        """Has a program do @words. Returns what it prints."""
        before = len(program._output)
        program.process.stdin.write(words + "\n")
        program.process.stdin.flush()
        program.reach("listening")
        return [line for line in program._output[before:-1] if not line.startswith("#")]

    def expect(self, program, words):
        said = self.tell(program, words)
        self.assertEqual([line for line in said if " failed" in line], [], said)
        return said

    def ask(self, qp_num, pair=1, **more):
        self.keeper.say(keepers.ASK, pair=pair, qp_num=qp_num, **{
            "shape": self.shape, "gid": self.gid, "peer_gid": self.gid, "psn": PSN, "peer_psn": PEER_PSN, **more})
        return self.keeper.hear()

    def make(self, qp_num, pair=1):
        """Has a pair made with the client's @qp_num. Returns the number of the server's."""
        made = bed.until(lambda: (note := self.ask(qp_num, pair)).word == keepers.MADE and note, "a spare")
        self.assertEqual((made.pair, made.peer_qp_num, made.peer_gid, made.gid),
                         (pair, qp_num, self.gid, self.gid))
        return made.qp_num

    def connect_client(self, client, peer):
        """As the pair is; its program has not asked."""
        self.expect(client, f"move:rtr,rts,dest={peer},rq={PSN},psn={PEER_PSN}")

    def make_connected(self, claimed=True):
        """A client, its number, and that of the server's end; the daemon has said that the client's is claimed."""
        client, number = self.client()
        peer = self.make(number)
        self.connect_client(client, peer)
        if claimed:
            self.keeper.say(keepers.CLAIMED, pair=1)
            self.settle()
        return client, number, peer

    def settle(self):
        """Until the server has read all that was said: it says that it has dropped a pair that never was."""
        self.keeper.say(keepers.DROP, pair=1 << 40)
        self.assertEqual(self.keeper.hear().word, keepers.DROPPED)

    def take(self, words=None):
        """The server makes its next queue pair, and moves it to INIT. Returns its number."""
        self.expect(self.server, f"{self.kind} {self.init if words is None else words}")
        self.next_qp += 1
        return int(self.server.remarks("qp")[-1])

    def reasons(self):
        """Why queue pairs of the server, ends of pairs, were not connected as they were."""
        return [event.why for event in self.server.events() if event.why in ("other peer", "peer gone", "other moves")]

    def mark(self):
        self.marked = len(self.server.events())
        self.fw = bed.counts(self.server.pid)

    def commands(self):
        """The program's own commands since mark() that made or moved a queue pair and reached the device."""
        return [event for event in self.server.events()[self.marked:]
                if event.kind == trace.COMMAND and event.how == trace.KERNEL and
                (event.makes or event.qp_state)]

    def connections(self):
        """How often firmware has moved a queue pair of the server to RTR and RTS since mark()."""
        now = bed.minus(bed.counts(self.server.pid), self.fw)
        return now.get("INIT2RTR_QP", 0), now.get("RTR2RTS_QP", 0)

    def talk(self, client, posted=True):
        """Messages go both ways."""
        if not posted:
            self.expect(self.server, "receives")
        self.expect(client, "receives push:fill=5")
        self.assertEqual(self.expect(self.server, "pull push:fill=6")[0], "pull ok 5")
        self.assertEqual(self.expect(client, "pull"), ["pull ok 6"])

    def assert_kept_until_dropped(self, qp_num):
        """A queue pair that the program has destroyed."""
        self.assertEqual(state(qp_num), RESET)
        self.keeper.say(keepers.DROPPED, pair=1)
        bed.until(lambda: state(qp_num) == GONE, "it is destroyed")

    def finish(self):
        result = self.server.finish()
        self.assertEqual((result.status, result.failures), (0, []), result.errors)
        return result


class Used(Case):
    def use(self):
        self.start_pairing()
        client, number, peer = self.make_connected()
        self.mark()
        self.assertEqual(self.take(), peer)
        self.expect(self.server, f"receives move:rtr,rts,dest={number},{OTHER_PSNS}")
        self.assertEqual(self.keeper.hear().word, keepers.USED)
        self.assertEqual([event.qp_state for event in self.commands()], [trace.RTR, trace.RTS])
        self.assertEqual(self.connections(), (1, 1))
        self.talk(client)
        self.finish()

    def test_rc(self):
        self.use()

    def test_srq(self):
        self.before, self.kind = "open pd cq srq", "qp:rc,srq"
        self.use()

    def test_init_twice(self):
        """As librdmacm does."""
        self.init = "move:init,access=0 move:init"
        self.use()

    def test_loaded(self):
        """A program that loads libibverbs itself."""
        self.start = lambda words, warm, **more: super(Used, self).start(
            words, warm, **{"program": bed.LOADED if warm else bed.WORDS, **more})
        self.use()

    def test_again_and_again(self):
        self.start_pairing()
        for pair in range(1, 20):
            client, number = self.client()
            peer = self.make(number, pair)
            self.connect_client(client, peer)
            self.keeper.say(keepers.CLAIMED, pair=pair)
            self.settle()
            self.assertEqual(self.take(), peer)
            self.expect(self.server, f"receives move:rtr,rts,dest={number}")
            self.assertEqual(self.keeper.hear().word, keepers.USED)
            self.talk(client)
            client.finish()
        self.finish()

    def test_not_claimed(self):
        self.start_pairing()
        _, _, peer = self.make_connected(claimed=False)
        self.assertNotEqual(self.take(), peer)
        self.finish()

    def test_two_claims(self):
        """None is named."""
        self.start_pairing()
        ends = []
        for pair in (1, 2):
            _, number = self.client()
            ends.append(self.make(number, pair))
            self.keeper.say(keepers.CLAIMED, pair=pair)
        self.settle()
        self.assertNotIn(self.take(), ends)
        self.keeper.say(keepers.DROP, pair=1)
        self.assertEqual(self.keeper.hear().word, keepers.DROPPED)
        self.assertEqual(self.take(), ends[1])
        self.finish()

    def test_another_shape(self):
        """What was claimed is not for a queue pair of another kind."""
        self.start_pairing()
        _, _, peer = self.make_connected()
        self.kind = "qp:rc,send=8"
        self.assertNotEqual(self.take(), peer)
        self.kind = "qp:rc"
        self.assertEqual(self.take(), peer)
        self.finish()


class Differing(Case):
    """The program does something else with the queue pair than the daemon had thought."""

    def test_other_peer(self):
        """Connected as the program asks, and its receives arrive. The partner hears nothing of it: the program may
        still turn to it."""
        self.start_pairing()
        _, _, peer = self.make_connected()
        other, number = self.client()
        self.assertEqual(self.take(), peer)
        self.expect(self.server, f"receives:n=3 move:rtr,rts,dest={number},{OTHER_PSNS}")
        self.assertTrue(self.keeper.is_silent())
        self.expect(other, f"move:rtr,rts,dest={peer},psn=9,rq=7")
        for fill in (1, 2, 3):
            self.expect(other, f"push:fill={fill}")
        self.assertEqual(self.expect(self.server, "pull:n=3"), ["pull:n=3 ok 1 2 3"])
        self.assertEqual(self.reasons(), ["other peer"])
        self.finish()

    def test_other_peer_destroyed(self):
        """The number stays until the client's end is no part of the pair."""
        self.start_pairing()
        _, _, peer = self.make_connected()
        _, number = self.client()
        self.take()
        self.expect(self.server, f"move:rtr,rts,dest={number},{OTHER_PSNS} destroy:qp={self.next_qp - 1}")
        self.assertEqual(self.keeper.hear().word, keepers.DROP)
        self.assert_kept_until_dropped(peer)
        self.finish()

    def differ(self, rtr, rts, posted="receives"):
        """Both ends use the PSNs of the pair, though the server's asks for something else."""
        self.start_pairing()
        client, number, peer = self.make_connected()
        self.mark()
        self.assertEqual(self.take(), peer)
        self.expect(self.server, f"{posted} move:rtr,dest={number},{OTHER_PSNS},{rtr}".strip())
        self.expect(self.server, f"move:rts,{OTHER_PSNS},{rts}")
        self.assertEqual(self.keeper.hear().word, keepers.USED)
        self.talk(client)
        return client

    def test_other_rtr(self):
        self.differ("mtu=2", "timeout=14")
        self.assertEqual(len(self.commands()), 2)
        self.finish()

    def test_other_rts(self):
        self.differ("mtu=3", "timeout=15")
        self.assertEqual(len(self.commands()), 2)
        self.finish()

    def test_other_init(self):
        """The program's own moves from INIT on, and the PSNs of the pair."""
        self.start_pairing()
        client, number, peer = self.make_connected()
        self.mark()
        self.assertEqual(self.take("move:init,access=0 query"), peer)
        self.expect(self.server, f"receives move:rtr,rts,dest={number},{OTHER_PSNS}")
        self.assertEqual([event.qp_state for event in self.commands() if event.qp_state],
                         [trace.INIT, trace.RTR, trace.RTS])
        self.talk(client)
        self.finish()

    def test_attributes_are_the_programs(self):
        """Pairs go on, however it connects."""
        self.differ("mtu=2", "timeout=14")
        self.make(4711, pair=2)
        self.finish()

    def test_query(self):
        """A query shows what the program has done, and the pair is used all the same."""
        self.start_pairing()
        client, number, peer = self.make_connected()
        plain = self.start("open pd cq qp:rc query move:init query move:rtr query", False).finish()
        self.assertEqual(self.take("query move:init query receives"), peer)
        said = [line for line in self.server._output if line.startswith("query")]
        self.assertEqual(said, [line for line in plain.lines if line.startswith("query")][:2])
        self.expect(self.server, f"move:rtr,rts,dest={number},{OTHER_PSNS}")
        self.talk(client)
        self.finish()

    def test_query_in_rtr(self):
        self.start_pairing()
        client, number, _ = self.make_connected()
        self.take()
        state = self.expect(self.server, f"receives move:rtr,dest={number} query")[-1]
        self.assertIn("state 2", state)
        self.expect(self.server, "move:rts")
        self.talk(client)
        self.finish()

    def test_reset_by_the_program(self):
        """It begins again, and names the partner in the end."""
        self.start_pairing()
        client, number, peer = self.make_connected()
        self.assertEqual(self.take(), peer)
        self.expect(self.server, f"move:reset move:init receives move:rtr,rts,dest={number},{OTHER_PSNS}")
        self.talk(client)
        self.finish()

    def test_error_by_the_program(self):
        self.start_pairing()
        self.make_connected()
        self.take()
        self.expect(self.server, f"move:err destroy:qp={self.next_qp - 1}")
        self.assertEqual(self.keeper.hear().word, keepers.DROP)
        self.finish()


class Early(Case):
    def test_message(self):
        """A client may send as soon as the daemon has connected its queue pair. As to any queue pair that is in INIT,
        nothing arrives, and the receives stay as they were posted."""
        self.start_pairing()
        client, number, peer = self.make_connected()
        self.assertEqual(self.take(), peer)
        self.expect(self.server, "receives")
        self.assertEqual(self.tell(client, "push:fill=3")[-1], "push:fill=3 failed: EBADMSG")  # retried in vain
        self.expect(client, f"move:reset move:init move:rtr,rts,dest={peer},rq={PSN},psn={PEER_PSN}")
        self.expect(self.server, f"move:rtr,rts,dest={number},{OTHER_PSNS}")
        self.assertEqual(self.keeper.hear().word, keepers.USED)
        self.talk(client)
        self.finish()


class Dropped(Case):
    """The daemon says that the client's end is gone, or says nothing any more."""

    def drop(self, pair=1):
        self.keeper.say(keepers.DROP, pair=pair)
        self.assertEqual((note := self.keeper.hear()).word, keepers.DROPPED)
        self.assertEqual(note.pair, pair)

    def connect_plainly(self, peer):
        """To another client, and with the PSNs that the program asks for."""
        client, number = self.client()
        self.expect(self.server, f"receives move:rtr,rts,dest={number},{OTHER_PSNS}")
        self.expect(client, f"move:rtr,rts,dest={peer},psn=9,rq=7")
        self.talk(client)

    def test_untaken(self):
        self.start_pairing()
        for claimed in (False, True):
            _, _, peer = self.make_connected(claimed)
            self.drop()
            bed.until(lambda: state(peer) == GONE, "it is destroyed")
            self.assertNotEqual(self.take(), peer)
        self.finish()

    def test_taken(self):
        """From then on, even the partner's number is that of a stranger."""
        self.start_pairing()
        client, number, peer = self.make_connected()
        self.take()
        self.drop()
        self.expect(self.server, f"receives move:rtr,rts,dest={number},{OTHER_PSNS}")
        self.expect(client, f"move:reset move:init move:rtr,rts,dest={peer},psn=9,rq=7")
        self.talk(client)
        self.assertTrue(self.keeper.is_silent())
        self.finish()

    def test_after_rtr(self):
        """Then it is as a peer that goes."""
        self.start_pairing()
        client, number, _ = self.make_connected()
        self.take()
        self.expect(self.server, f"receives move:rtr,dest={number},{OTHER_PSNS}")
        self.drop()
        self.expect(self.server, f"move:rts,{OTHER_PSNS}")
        self.talk(client)
        self.finish()

    def test_after_use(self):
        self.start_pairing()
        client, number, _ = self.make_connected()
        self.take()
        self.expect(self.server, f"receives move:rtr,rts,dest={number}")
        self.assertEqual(self.keeper.hear().word, keepers.USED)
        self.drop()
        self.talk(client)
        self.finish()

    def test_both_drop(self):
        self.start_pairing()
        self.make_connected()
        self.take()
        self.expect(self.server, f"destroy:qp={self.next_qp - 1}")
        self.assertEqual(self.keeper.hear().word, keepers.DROP)
        self.drop()
        self.finish()

    def test_daemon_dies(self):
        """What is not taken is never given to the program; it has what it has."""
        self.start_pairing()
        _, _, peer = self.make_connected()
        self.keeper.close()
        self.assertIsNone(self.keeper.hear())
        self.keeper = self.fake.keeper()  # The server comes again.
        self.assertNotEqual(self.take(), peer)
        _, number = self.client()
        self.make(number)
        self.finish()

    def test_daemon_dies_when_taken(self):
        """The client hears nothing, and keeps to the pair, too."""
        self.start_pairing()
        client, number, _ = self.make_connected()
        self.take()
        self.keeper.close()
        self.fake.keeper()
        self.expect(self.server, f"receives move:rtr,rts,dest={number},{OTHER_PSNS}")
        self.talk(client)
        self.finish()

    def test_daemon_dies_and_other_peer(self):
        """The number of the queue pair stays taken, even if the program destroys it."""
        self.start_pairing()
        _, _, peer = self.make_connected()
        self.take()
        self.keeper.close()
        self.fake.keeper()
        self.connect_plainly(peer)
        self.expect(self.server, f"destroy:qp={self.next_qp - 1}")
        self.assertEqual(state(peer), RESET)
        self.finish()

    def test_daemon_dies_after_rtr(self):
        self.start_pairing()
        client, number, _ = self.make_connected()
        self.take()
        self.expect(self.server, f"receives move:rtr,dest={number}")
        self.keeper.close()
        self.fake.keeper()
        self.expect(self.server, "move:rts")
        self.talk(client)
        self.finish()

    def test_daemon_dies_when_leaving(self):
        self.start_pairing()
        self.make_connected()
        self.take()
        self.expect(self.server, f"destroy:qp={self.next_qp - 1}")
        self.keeper.close()
        self.fake.keeper()
        self.finish()

    def lose(self, claimed):
        """The daemon is started again while the server has as many ends as may be lost."""
        self.start_pairing()
        for pair in range(1, 9):
            self.make(4000 + pair, pair)
            if claimed:
                self.keeper.say(keepers.CLAIMED, pair=pair)
        self.settle()
        self.keeper.close()
        self.keeper.hear()
        self.keeper = self.fake.keeper()

    def test_too_many_lost(self):
        self.lose(claimed=True)
        refused = self.ask(4711)
        self.assertEqual((refused.word, refused.why), (keepers.REFUSED, keepers.NO_SPARE))
        self.finish()

    def test_lost_before_any_client_came(self):
        self.lose(claimed=False)
        self.make(4711, 9)
        self.finish()


class Ending(Case):
    """The program destroys what pairs use, or the process changes."""

    def test_destroy_taken(self):
        self.start_pairing()
        _, _, peer = self.make_connected()
        self.take()
        self.expect(self.server, f"destroy:qp={self.next_qp - 1}")
        self.assertEqual(self.keeper.hear().word, keepers.DROP)
        self.assert_kept_until_dropped(peer)
        self.finish()

    def destroy(self, answers):
        """All of its objects, with a pair that nobody has taken."""
        self.start_pairing()
        self.make_connected()
        self.server.process.stdin.write("destroy:qps destroy:cqs destroy\n")
        self.server.process.stdin.flush()
        self.assertEqual(self.keeper.hear().word, keepers.DROP)
        if answers:
            self.keeper.say(keepers.DROPPED, pair=1)
        self.server.reach("listening")
        self.expect(self.server, f"close open pd cq {self.kind} {self.init} move:rtr,rts")
        self.finish()

    def test_destroy_all(self):
        self.destroy(answers=True)

    def test_destroy_all_unanswered(self):
        """A daemon that does not answer holds nothing up for long."""
        self.destroy(answers=False)

    def test_destroy_all_of_many(self):
        """As many words at once hold nothing up, and leave the connection as it is."""
        self.start_pairing()
        for pair in range(1, 101):
            self.make(4000 + pair, pair)
        self.server.process.stdin.write("destroy:qps destroy:cqs destroy\n")
        self.server.process.stdin.flush()
        for _ in range(100):
            heard = self.keeper.hear()
            self.assertEqual(heard.word, keepers.DROP)
            self.keeper.say(keepers.DROPPED, pair=heard.pair)
        self.server.reach("listening")
        self.assertEqual(self.ask(4711, pair=101).word, keepers.REFUSED)
        self.finish()

    def test_asked_meanwhile(self):
        """A daemon that asks for a pair while the program destroys the completion queue keeps it from nothing."""
        self.start_pairing()
        self.make_connected()
        _, number = self.client()
        self.server.process.stdin.write("destroy:qps destroy:cqs destroy\n")
        self.server.process.stdin.flush()
        self.assertEqual(self.keeper.hear().word, keepers.DROP)
        self.assertEqual(self.ask(number, pair=2).word, keepers.REFUSED)
        self.keeper.say(keepers.DROPPED, pair=1)
        self.server.reach("listening")
        self.assertEqual([line for line in self.server._output if " failed" in line], [])
        self.finish()

    def test_destroy_after_taken(self):
        """A queue pair that the program has destroyed goes before its completion queue."""
        self.start_pairing()
        self.make_connected()
        self.take()
        self.expect(self.server, "destroy:qps destroy:cqs destroy close open pd cq qp:rc")
        self.assertEqual(self.keeper.hear().word, keepers.DROP)
        self.finish()

    def test_destroy_srq(self):
        self.before, self.kind = "open pd cq srq", "qp:rc,srq"
        self.start_pairing()
        self.make_connected()
        self.expect(self.server, "destroy:qps destroy:srq destroy:cqs destroy")
        self.finish()

    def test_fork(self):
        """A child connects what its parent has made."""
        self.start_pairing()
        client, number, peer = self.make_connected()
        self.assertEqual(self.take(), peer)
        self.expect(self.server, f"receives turn:child move:rtr,rts,dest={number},{OTHER_PSNS} turn:parent turn:end")
        self.expect(client, "push:fill=5")
        self.assertEqual(self.expect(self.server, "pull"), ["pull ok 5"])
        # Plainly, too: the parent's provider knows nothing of the child's moves.
        self.assertEqual(self.tell(self.server, "push:fill=6"), ["push:fill=6 failed: ENOMEM"])
        self.server.close()

    def test_fork_while_pairing(self):
        """The parent goes on; the child has no pairs."""
        self.start_pairing()
        client, number, peer = self.make_connected()
        self.expect(self.server, f"turn:child {self.kind} {self.init} destroy:qp={self.next_qp} "
                                 f"turn:parent {self.kind} {self.init} receives "
                                 f"move:rtr,rts,dest={number},{OTHER_PSNS} turn:end")
        self.assertEqual(int(self.server.remarks("qp")[-1]), peer)
        self.assertEqual(self.keeper.hear().word, keepers.USED)
        self.talk(client)
        self.finish()

    def test_child_destroys_what_it_inherits(self):
        """It succeeds, as it does plainly, with an end that nobody has taken. The client hears of it."""
        self.start_pairing()
        _, _, peer = self.make_connected()
        self.expect(self.server, "turn:child destroy:qps destroy:cqs destroy:pd pd cq turn:parent turn:end")
        self.assertEqual(state(peer), GONE)
        note = self.keeper.hear()
        self.assertEqual((note.word, note.why, note.pair), (keepers.DROP, keepers.ENDED, 1))
        self.server.close()

    def test_child_destroys_what_its_parent_has_destroyed(self):
        """The queue pair is kept for the client's sake."""
        self.start_pairing()
        self.make_connected()
        self.take()
        self.expect(self.server, f"destroy:qp={self.next_qp - 1} "
                                 "turn:child destroy:qps destroy:cqs destroy:pd pd cq turn:parent turn:end")
        self.server.close()

    def test_exec(self):
        self.start_pairing()
        self.make_connected()
        self.server.process.stdin.write("exec\n")
        self.server.process.stdin.flush()
        self.assertIsNone(self.keeper.hear())
        self.assertFalse(self.keeper.stays)
        self.server.finish()

    def test_exit_when_taken(self):
        self.start_pairing(then="listen exit")
        self.make_connected()
        self.take()
        self.finish()
        self.assertIsNone(self.keeper.hear())

    def test_sandbox(self):
        """The client hears nothing of it, so that what is taken is part of the pair."""
        self.start_pairing()
        client, number, _ = self.make_connected()
        self.take()
        self.expect(self.server, "seccomp")
        self.assertIsNone(self.keeper.hear())
        self.assertTrue(self.keeper.stays)
        self.expect(self.server, f"receives move:rtr,rts,dest={number},{OTHER_PSNS}")
        self.talk(client)
        self.finish()

    def test_descriptors_closed(self):
        """The program closes all files that it does not know, as daemons do."""
        self.start_pairing()
        self.make_connected()
        self.expect(self.server, "closefrom")
        self.assertIsNone(self.keeper.hear())
        self.assertTrue(self.keeper.stays)
        self.assertEqual(self.server.finish().status, 0)


class Unwanted(Case):
    """Nothing of this exists."""

    def test_daemon_wants_none(self):
        self.start_server(then="at:served" + END, flags=0)
        self.server.go_on()
        self.server.reach("served")
        self.assertFalse(self.fake.has_keeper())
        self.finish()

    def test_no_spares(self):
        self.start_server(then="at:served" + END, env={"WARMVERBS_SPARES": "0"})
        self.server.go_on()
        self.server.reach("served")
        self.assertFalse(self.fake.has_keeper())
        self.finish()


class Hostile(Case):
    """What no daemon says ends the connection, and nothing else."""

    def refuse(self, data):
        self.start_pairing()
        self.make_connected()
        self.keeper.sock.send(data)
        self.assertIsNone(self.keeper.hear())
        self.serve()

    def serve(self):
        self.expect(self.server, f"{self.kind} {self.init} receives move:rtr,rts")
        self.finish()

    def test_not_a_message(self):
        self.refuse(b"x" * 8)

    def test_too_long(self):
        self.refuse(wire.message(wire.PAIR, bytes(4000)))

    def test_another_message(self):
        self.refuse(wire.no_lease())

    def test_another_version(self):
        self.refuse(wire.message(wire.PAIR, bytes(keepers.OWN.size), version=wire.VERSION + 1))

    def test_words(self):
        """That it should say itself, or that do not exist."""
        for word in (0, keepers.KEEPER, keepers.MADE, keepers.EDGE, 11, 0xffff):
            self.refuse(keepers.Note(word, pair=1).packed())

    def test_descriptors(self):
        self.start_pairing()
        wire.send(self.keeper.sock, keepers.Note(keepers.CLAIMED, pair=1).packed(), [0])
        self.assertIsNone(self.keeper.hear())
        self.serve()

    def test_asking_for_nonsense(self):
        for more in ({"pair": 0}, {"qp_num": 0}, {"qp_num": 1 << 24}, {"gid": bytes(16)}, {"psn": 1 << 24}):
            self.start_pairing()
            self.assertIsNone(self.ask(**{"qp_num": 77, **more}))
            self.serve()

    def test_the_same_pair_twice(self):
        self.start_pairing()
        self.make(77)
        self.assertIsNone(self.ask(78))
        self.serve()

    def test_unknown_shape(self):
        self.start_pairing()
        refused = self.ask(77, shape=self.shape + 1000)
        self.assertEqual((refused.word, refused.why), (keepers.REFUSED, keepers.UNKNOWN))
        self.serve()

    def test_unknown_pairs(self):
        self.start_pairing()
        for word in (keepers.CLAIMED, keepers.DROPPED):
            self.keeper.say(word, pair=99)
        self.settle()
        self.serve()

    def test_too_many(self):
        self.start_pairing()
        for pair in range(1, MOST + 1):
            self.make(5000 + pair, pair)
        refused = self.ask(4711, MOST + 1)
        self.assertEqual((refused.word, refused.why), (keepers.REFUSED, keepers.NO_SPARE))
        self.serve()

    def test_never_reads(self):
        """A daemon that does not read what it is told holds nothing up."""
        self.start_pairing()
        for _ in range(500):
            try:
                self.keeper.sock.send(keepers.Note(keepers.DROP, pair=3).packed())
            except OSError:
                break
        self.serve()


if __name__ == "__main__":
    bed.main()
