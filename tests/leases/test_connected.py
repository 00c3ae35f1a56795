#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A lease whose queue pair is connected to a server's already, and programs that connect it in each way."""

import pathlib
import shutil
import tempfile
import unittest

from support import bed, cases, trace

PAIRING = str(bed.BUILD / "tests/leases/pairing")
CONNECT = str(bed.BUILD / "tests/programs/connect")
MOVES = {"INIT2RTR_QP", "RTR2RTS_QP"}
USED, ENDED, OTHER_PEER, ATTRIBUTES = 0, 5, 6, 7  # enum wv_pair_why


class Connected(unittest.TestCase):
    """The server is also the daemon (pairing.c). It has two queue pairs, and uses the first of numbers."""

    server = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="connected."))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        provider = next(pathlib.Path("/usr/lib").glob("*/libibverbs/libmlx5-rdmav*.so"))
        (cls.folder / "providers").write_text(f"uverbs0 {provider.name}\n")
        (cls.folder / "providers").chmod(0o644)
        cls.runs = 0

    @classmethod
    def begin_server(cls):
        socket = cls.folder / "socket"
        socket.unlink(missing_ok=True)
        cls.server = bed.Program([PAIRING, str(socket)], bed.environment(PAIRING, False), None, {})
        cls.addClassCleanup(cls.server.close)
        cls.server.reach("begun")
        cls.numbers = cls.server.remarks("qp")

    def tell_server(self, line):
        self.server.process.stdin.write(line + "\n")
        self.server.process.stdin.flush()

    def do(self, *lines):
        for line in lines:
            self.tell_server(line)
            self.server.reach(line.split()[0])
            if line == "other":
                self.numbers.reverse()

    def start(self, *options):
        """A program that has asked the daemon, and has its queue pair in INIT."""
        Connected.runs += 1
        path = self.folder / f"trace.{self.runs}"
        env = {"WARMVERBS_SOCKET": str(self.folder / "socket"), "WARMVERBS_TRACE": str(path)}
        self.tell_server("serve")
        program = bed.Program([CONNECT, *options], bed.environment(CONNECT, True, env), path, {})
        self.addCleanup(program.close)
        self.server.reach("serve")
        program.before = program.reach("bound")
        program.number = program.remarks("qp")[0]
        return program

    def connect(self, program):
        """Returns the moves that the adapter was asked for."""
        program.process.stdin.write(self.numbers[0] + "\n")
        program.process.stdin.flush()
        return MOVES & set(bed.minus(program.reach("connected"), program.before))

    def exchange(self, program, *sent):
        """Messages both ways; the server's may have been @sent before."""
        self.do(*(() if sent else ("send",)))
        program.go_on()
        self.do("receive")
        program.reach("exchanged")

    def finish(self, program):
        result = program.finish()
        self.assertEqual(result.status, 0, result.errors)
        return result

    def meet_plainly(self, program):
        self.do(f"plain {program.number}")
        self.connect(program)
        self.exchange(program)

    def learn(self):
        """Two runs from which the daemon knows what the program makes, and how it connects."""
        self.begin_server()
        program = self.start()
        self.meet_plainly(program)
        if trace.unanswered(self.finish(program).events):
            return 0
        self.do("record", "lease")
        program = self.start()
        self.meet_plainly(program)
        leased = self.finish(program).leased
        if leased:
            self.do("told")
            self.assertEqual(self.server.remarks("told"), ["0,2"])
        return leased

    def start_paired(self, *options):
        """A program with a lease whose queue pair is connected. A busy machine may be too slow for the daemon."""
        for _ in cases.attempts():
            is_up = self.server and self.server.process.poll() is None
            if not is_up and not self.learn():
                self.server.close()
                continue
            self.do("pair")
            program = self.start(*options)
            if trace.opens(program.events(), trace.ADOPTED):
                return program
            program.close()
        self.fail("no lease")

    def check_told(self, why, steps):
        self.do("told")
        self.assertEqual(self.server.remarks("told")[-1], f"{why},{steps}")

    def check_untold(self):
        """Of a pair that is used, the server's daemon tells the client's: nothing but the end of the queue pair."""
        self.check_told(USED, 0)

    def rollbacks(self, result):
        return len([e for e in result.events if e.kind == trace.ROLLBACK])

    def test_as_it_was(self):
        """No command is given, and the numbers of the packets are those of the pair, not those that were asked for."""
        program = self.start_paired()
        self.assertEqual(self.connect(program), set())
        self.exchange(program)
        result = self.finish(program)
        self.assertEqual(self.rollbacks(result), 0)
        self.check_paired(result, [trace.RTR, trace.RTS])
        self.check_untold()

    def check_paired(self, result, states):
        """The moves to these states are shown as those of the pair."""
        self.assertEqual([e.qp_state for e in result.events if e.kind == trace.COMMAND and e.how == trace.PAIR], states)

    def test_other_peer(self):
        program = self.start_paired()
        self.do("other", f"plain {program.number}")
        self.assertEqual(self.connect(program), MOVES)
        self.exchange(program)
        self.assertEqual(self.rollbacks(self.finish(program)), 1)
        self.check_told(OTHER_PEER, 2)

    def check_differing(self, option, moves, steps, paired=()):
        """The server's end is as the pair is, so only the pair's numbers let a message pass."""
        program = self.start_paired(option)
        self.assertEqual(self.connect(program), moves)
        self.exchange(program)
        self.check_paired(self.finish(program), [*paired])
        self.check_told(ATTRIBUTES, steps)

    def test_other_attributes(self):
        self.check_differing("mtu", MOVES, 2)

    def test_other_attributes_at_the_end(self):
        self.check_differing("timeout", MOVES, 0, paired=[trace.RTR])

    def test_looked_at(self):
        """The program sees its queue pair as it has made it, each time."""
        self.check_differing("query", MOVES, 2)

    def test_gone(self):
        """The server connects otherwise after all, and the daemon says so."""
        program = self.start_paired()
        self.do("gone", f"plain {program.number}")
        self.assertEqual(self.connect(program), MOVES)
        self.exchange(program)
        self.finish(program)
        self.check_told(ENDED, 2)

    def test_daemon_ends(self):
        """The server's end is as the pair is, since nobody can tell the server otherwise."""
        program = self.start_paired()
        self.do("die")
        self.assertEqual(self.connect(program), set())
        self.exchange(program)
        self.finish(program)

    def test_early_message(self):
        """It has arrived before the program connects, and is not lost, whatever the program wants."""
        for options in ((), ("query",), ("mtu",), ("timeout",)):
            with self.subTest(options):
                program = self.start_paired(*options)
                self.do("send")
                self.assertEqual(self.connect(program), set())
                self.exchange(program, "sent")
                self.assertEqual(self.rollbacks(self.finish(program)), 0)
                self.check_untold()

    def test_early_message_of_another(self):
        """Nobody has asked for it."""
        program = self.start_paired()
        self.do("other", f"plain {program.number}")
        self.assertEqual(self.connect(program), MOVES)
        self.exchange(program)
        self.finish(program)

    def test_child(self):
        """The child adopts nothing, but its packets have the numbers that the server expects."""
        program = self.start_paired("fork")
        self.connect(program)
        self.do("send")
        result = self.finish(program)
        self.assertEqual(self.rollbacks(result), 1)
        self.check_told(ATTRIBUTES, 2)

    def test_child_whose_peer_is_gone(self):
        program = self.start_paired("fork")
        self.do("gone", f"plain {program.number}")
        self.connect(program)
        self.do("send")
        self.finish(program)


if __name__ == "__main__":
    bed.main()
