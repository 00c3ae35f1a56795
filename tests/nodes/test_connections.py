#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""RC connections between programs of two nodes, which exchange their addresses: data, and what goes wrong."""

import pathlib
import signal

from support import bed, cases, nodes

SUCCESS, RETRIES_EXCEEDED, RNR_RETRIES_EXCEEDED = 0, 12, 13  # enum ibv_wc_status

OPEN = "open pd cq qp:rc move:init,access=6"
BRIEF = "timeout=6,retries=1"  # a millisecond until an unanswered request fails


def connected(psn, fill, *words, attributes=BRIEF):
    """Words of a program that connects, waits, does these, and waits."""
    return (f"{OPEN} address:gid=3,psn={psn},fill={fill} meet move:rtr,rts,met,gid=3,psn={psn},{attributes}"
            f" at:connected {' '.join(words)} at:done")


class Connections(nodes.Case):
    def connect(self, words_a, words_b, warm=False):
        """Starts both; each is connected, and waits."""
        started = self.a.start(words_a, warm), self.b.start(words_b, warm)
        nodes.meet(*started)
        for program in started:
            program.reach("connected")
        return started

    def run_to(self, name, *programs):
        for program in programs:
            program.go_on()
        for program in programs:
            program.reach(name)

    def run_both(self, words_a, words_b, warm=False):
        """The results; both are done before the first destroys its queue pair."""
        started = self.connect(words_a, words_b, warm)
        self.run_to("done", *started)
        return [program.finish() for program in started]

    def statuses(self, result):
        """Of what the program awaited."""
        return [int(line.split()[3]) for line in result.lines if line.startswith("await")]

    def test_messages(self):
        """Also across the end of packet numbers."""
        words = (connected(0xfffffe, 3, "post:send", "await", "post:write", "await", "post:write-immediate,fill=5",
                           "await", "post:read", "await", "arrived"),
                 connected(77, 9, "post:receive", "post:receive", "await:n=2", "arrived"))
        plain = self.run_both(*words)
        self.assertEqual(self.statuses(plain[0]), [SUCCESS] * 4, plain[0].lines)
        for _ in cases.attempts(2 * cases.PATIENCE, free=2):
            warm = self.run_both(*words, warm=True)
            self.assertEqual([result.shape() for result in warm], [result.shape() for result in plain])
            if all(result.leased for result in warm):
                break
            for node in self.nodes:
                node.await_leases()
        else:
            self.fail(f"no leases on both nodes: {[result.leased for result in warm]}")

    def test_receiver_is_late(self):
        a, b = self.connect(connected(1, 1, "post:send", "await"), connected(2, 2, "post:receive", "await"))
        a.go_on()
        self.run_to("done", b)
        a.reach("done")
        for program in (a, b):
            self.assertEqual(self.statuses(program.finish()), [SUCCESS])

    def test_receiver_is_never_ready(self):
        words = connected(1, 1, "post:send", "await", attributes=BRIEF + ",rnr-retries=1")
        result, _ = self.run_both(words, connected(2, 2))
        self.assertEqual(self.statuses(result), [RNR_RETRIES_EXCEEDED])

    def test_partner_dies(self):
        a, b = self.connect(connected(1, 1, "post:write", "await"), connected(2, 2))
        b.process.send_signal(signal.SIGKILL)
        b.process.wait()
        self.run_to("done", a)
        self.assertEqual(self.statuses(a.finish()), [RETRIES_EXCEEDED])

    def test_partner_is_stopped(self):
        """Its memory can still be written, as long as the process lives."""
        a, b = self.connect(connected(1, 1, "post:write", "await"), connected(2, 2, "arrived"))
        b.process.send_signal(signal.SIGSTOP)
        self.run_to("done", a)
        b.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.statuses(a.finish()), [SUCCESS])
        self.assertEqual(b.finish().failures, [])

    def test_wrong_packet_number(self):
        words = connected(1, 1, "post:write", "await").replace("rts,met", "rts,met,psn=2")
        result, other = self.run_both(words, connected(2, 2, "arrived"))
        self.assertEqual(self.statuses(result), [RETRIES_EXCEEDED])
        self.assertIn("arrived ok 0", other.lines)

    def test_link_comes_back(self):
        """In time: what was lost meanwhile is sent again."""
        self.b.ctl("link", "down")
        self.addCleanup(self.b.ctl, "link", "up")
        a, b = self.connect(connected(1, 1, "post:write", "await", attributes="timeout=16,retries=7"), connected(2, 2))
        a.go_on()
        self.b.ctl("link", "up")
        a.reach("done")
        self.assertEqual(self.statuses(a.finish()), [SUCCESS])
        b.finish()

    def has_address(self):
        """Whether it is at the index that programs use."""
        gid = pathlib.Path(self.b.node_env["SYSFS_PATH"], "class/infiniband/mlx5_0/ports/1/gids/3")
        return gid.read_text(encoding="ascii").endswith("c000:0202\n")

    def renew_address(self):
        self.b.ctl("address", "remove")
        self.b.ctl("address", "add")
        return self.has_address()

    def test_address_goes(self):
        """A queue pair that uses it sends nothing more, even when the address is back at another index."""
        self.addCleanup(bed.until, self.renew_address, "the address comes back to its first index")
        a, b = self.connect(connected(1, 1, "post:write", "await"), connected(2, 2, "arrived"))
        self.renew_address()
        self.assertFalse(self.has_address())
        self.run_to("done", a)
        self.assertEqual(self.statuses(a.finish()), [RETRIES_EXCEEDED])
        self.assertIn("arrived ok 0", b.finish().lines)

    def test_number_is_used_again(self):
        """By a queue pair that is not connected to the one that still sends to this number."""
        self.b.await_leases()  # the daemon takes no number meanwhile
        self.b.ctl("reuse", "on")
        self.addCleanup(self.b.ctl, "reuse", "off")
        a, b = self.connect(connected(1, 1, "post:write", "await"), connected(2, 2, "destroy:qp"))
        self.run_to("done", b)
        other = self.b.start(f"{OPEN} move:rtr,rts,gid=3 address:gid=3 at:done arrived", False)
        other.reach("done")
        self.assertEqual(other.remarks("qp"), b.remarks("qp"))
        self.run_to("done", a)
        self.assertEqual(self.statuses(a.finish()), [RETRIES_EXCEEDED])
        self.assertIn("arrived ok 0", other.finish().lines)


if __name__ == "__main__":
    bed.main()
