#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a user learns of others: nothing."""

import contextlib
import errno
import json
import os
import shutil
import socket
import subprocess

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


def refused(asker):
    """Why it cannot connect."""
    try:
        asker.connect().close()
    except OSError as why:
        return why.errno
    return 0


@contextlib.contextmanager
def listening(path, uid):
    """Somebody who answers nothing."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        os.seteuid(uid)
        try:
            listener.bind(path)
            listener.listen()
        finally:
            os.seteuid(0)
        yield


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

    def test_root_of_a_container(self):
        """With the socket's folder alone, it sees and forgets nothing of other users."""
        self.victim_learns()
        before = self.client.answer(op="status")
        self.assertEqual((before["recipes"], before["totals"]), ([], None))
        self.assertEqual(self.client.answer(op="forget", id="all"), {"forgotten": 0})
        self.assertEqual(self.client.answer(op="status")["recipes"], [])
        self.assertTrue(self.as_user(users.VICTIM, self.client.answer, op="status")["recipes"])

    def ask(self):
        """What `warmverbs status` prints: of recipes, and of errors."""
        result = subprocess.run([bed.CLI, "recipes", "list", "--json", "--socket", self.daemon.socket], env=bed.CLEAN,
                                capture_output=True, check=True, timeout=bed.LIMIT_S)
        text = subprocess.run([bed.CLI, "status", "--socket", self.daemon.socket], env=bed.CLEAN, capture_output=True,
                              text=True, check=True, timeout=bed.LIMIT_S)
        return len(json.loads(result.stdout)["recipes"]), text.stderr

    def test_the_administrator_s_socket(self):
        """It is for root and the daemon's account alone, and outside the socket's folder."""
        self.victim_learns()
        administrator = self.daemon.administrator
        for uid in (users.VICTIM, users.ATTACKER):
            self.assertEqual(self.as_user(uid, refused, administrator), errno.EACCES)
        for uid in (0, users.DAEMON):
            self.assertEqual(self.as_user(uid, self.ask), (1, ""))
        self.assertEqual(administrator.answer(op="forget", id="all"), {"forgotten": 1})
        self.daemon.stop()
        self.assertFalse(os.path.exists(os.path.dirname(administrator.path)))

    def test_a_folder_of_somebody_else(self):
        """In it there is no administrator's socket, and who listens there is not asked; all else is as before."""
        folder = f"{self.folder}-admin"
        self.daemon.stop()
        os.mkdir(folder, mode=0o755)
        self.addCleanup(shutil.rmtree, folder)
        os.chown(folder, users.ATTACKER, users.ATTACKER)
        with listening(f"{folder}/socket", users.ATTACKER):
            self.daemon.start()
            self.as_user(users.VICTIM, self.client.learn, hostile.VICTIMS, self.target.small)
            bed.until(lambda: self.as_user(users.VICTIM, self.client.take, hostile.VICTIMS), "a lease")
            recipes, errors = self.ask()
            self.assertEqual(recipes, 0)
            self.assertIn("only what belongs to root is shown", errors)
            self.assertEqual(self.as_user(users.VICTIM, self.ask), (1, ""))


if __name__ == "__main__":
    bed.main()
