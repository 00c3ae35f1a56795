#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The device is removed and comes back: the daemon closes its leases at once, and makes new ones."""

from support import bed

WORDS = "open pd cq srq qp:rc,srq move:init,rtr,rts traffic:rounds=3 destroy:qps destroy:srq destroy:cqs close"


class Removed(bed.Case):
    def tearDown(self):
        if not self.daemon.status()["devices"]:
            bed.ctl("return")

    def await_device(self):
        bed.until(lambda: self.daemon.status()["devices"], "the device to be found again")

    def remove(self):
        """The daemon knows of the device no more, and nobody has it open."""
        bed.ctl("remove")
        bed.until(lambda: not self.daemon.status()["devices"], "the daemon to see it")
        bed.until(lambda: bed.ctl("objects")["ufiles"] == 0, "the end of leases")

    def test_programs_meanwhile_and_after(self):
        plain = self.run_plain(WORDS)
        self.learn(WORDS)
        self.remove()
        without = self.run_plain("open exit")
        self.assertEqual(without.failures, without.lines[:1])
        self.assertEqual(self.run_warm("open exit").shape(), without.shape())
        bed.ctl("return")
        self.await_device()
        self.assertEqual(self.run_leased(WORDS).shape(), plain.shape())

    def test_a_program_with_a_lease(self):
        """Its commands fail as those of a program without one."""
        words = "open pd cq srq qp:rc,srq move:init at:ready move:rtr query cq destroy:qps destroy:srq destroy:cqs"
        self.learn(words)
        shapes = []
        for warm in (False, True):
            program = self.start(words, warm)
            program.reach("ready")
            bed.ctl("remove")
            shapes.append(program.finish().shape())
            bed.ctl("return")
            self.await_device()
            self.daemon.await_ready(self.name)
        self.assertEqual(shapes[0], shapes[1])

    def test_a_program_that_is_recorded(self):
        """What it did until then is no recipe: other programs do more."""
        program = self.start("open pd at:ready cq", True)
        program.reach("ready")
        bed.ctl("remove")
        program.finish()
        bed.ctl("return")
        self.await_device()
        self.assertEqual(self.daemon.recipes(self.name), [])
        self.learn("open pd cq")
        recipe, = self.daemon.recipes(self.name)
        self.assertEqual(recipe["counters"]["records"], 1)

    def test_again_and_again(self):
        """While leases are made and handed out."""
        self.learn(WORDS)
        for _ in range(10):
            running = [self.start(WORDS, True) for _ in range(4)]
            bed.ctl("remove")
            bed.ctl("return")
            for program in running:
                program.close()
        self.await_device()
        self.run_leased(WORDS)

        def only_leases():
            objects = bed.ctl("objects")
            return objects["ufiles"] == objects["contexts"] == self.daemon.status()["use"]["leases"]
        bed.until(only_leases, "no objects but of leases")


if __name__ == "__main__":
    bed.main()
