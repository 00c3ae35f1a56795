#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a user learns of others: nothing."""

import json

from support import attacks, bed, hostile, users, wire

# What the user does itself, and what time does.
OWN = {"uptime_s", "users", "recipes"}


def constants(client, name):
    """The device's answers that all get: they come to an unknown program, with the request to record."""
    sock, data, _ = client.ask(name)
    sock.close()
    if wire.kind_of(data) != wire.NO_LEASE:
        raise AssertionError(f"message {wire.kind_of(data)}")
    return data


class Privacy(hostile.Case):
    def test_questions(self):
        """Questions in one user's recording, and the answers to them, do not come to others."""
        before = self.as_user(users.VICTIM, constants, self.client, b"before")
        self.assertNotIn(attacks.MARK, before)
        with self.going(attacks.Questions) as going:
            going.await_steps(3)
            self.as_user(users.VICTIM, self.client.learn, b"own", self.target.small)
            self.daemon.await_ready("own")  # so builders have looked at what came before
        after = self.as_user(users.VICTIM, constants, self.client, b"after")
        self.assertNotIn(attacks.MARK, after)

    def test_questions_crowd_nothing_out(self):
        """The device's own answers are still given."""
        self.as_user(users.VICTIM, self.client.learn, b"own", self.target.small)
        self.daemon.await_ready("own")
        before = self.as_user(users.VICTIM, constants, self.client, b"before")
        with self.going(attacks.Questions) as going:
            going.await_steps(3)
        after = self.as_user(users.VICTIM, constants, self.client, b"after")
        self.assertEqual(after, before)

    def status(self):
        """As the victim sees it, without what is the victim's own."""
        document = self.as_user(users.VICTIM, self.client.answer, op="status")
        return json.dumps({name: value for name, value in document.items() if name not in OWN}, sort_keys=True)

    def test_status(self):
        """Nothing in a user's status depends on what others do."""
        self.status()
        before = self.status()
        self.as_user(users.ATTACKER, self.client.learn, b"other", self.target.small)
        self.daemon.await_ready("other")
        self.assertEqual(self.status(), before)


if __name__ == "__main__":
    hostile.main()
