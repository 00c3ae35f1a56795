#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whatever ends first, of client, start, template and supervisor: nothing is left, and no status is wrong."""

import os
import signal
import subprocess

import template
from support import cases
from support.processes import is_alive as exists
from template import children, cmdline, until

SLEEP = ("/bin/sleep", "100")


class Ends(template.Case):
    def asleep(self, made=None):
        """A template of sleep(1), a client, and the start."""
        made = (made or self.template(SLEEP[0])).await_ready()
        for _ in cases.attempts():
            client = self.start(made, *SLEEP, stderr=subprocess.PIPE)
            self.addCleanup(client.stderr.close)
            self.addCleanup(client.kill)
            started = until(lambda: self.asleep_by(client.pid, made), "a start")
            if started != client.pid:
                return made, client, started
        self.fail("no start")

    @staticmethod
    def asleep_by(client, made):
        """A child of the supervisor that sleeps, or the client itself."""
        if cmdline(client) == [*SLEEP]:
            return client
        if os.readlink(f"/proc/{client}/cwd") != "/":  # it goes there once it knows of the start
            return None
        return next((pid for pid in children(made.process.pid) if cmdline(pid) == [*SLEEP]), None)

    def test_signals_reach_the_start(self):
        _, client, started = self.asleep()
        client.send_signal(signal.SIGUSR1)
        self.assertEqual(client.wait(template.LIMIT_S), -signal.SIGUSR1)
        until(lambda: not exists(started), "the end of the start")

    def test_client_is_killed(self):
        _, client, started = self.asleep()
        client.kill()
        until(lambda: not exists(started), "the end of the start")
        client.wait()

    def test_start_is_killed(self):
        _, client, started = self.asleep()
        os.kill(started, signal.SIGKILL)
        self.assertEqual(client.wait(template.LIMIT_S), -signal.SIGKILL)

    def test_template_is_killed(self):
        """Starts go on, with their status; the supervisor ends after the last."""
        made, client, started = self.asleep()
        os.kill(children(made.process.pid)[0], signal.SIGKILL)
        until(lambda: children(made.process.pid) == [started], "the end of the other children")
        self.assertFalse(os.path.exists(made.socket))
        os.kill(started, signal.SIGTERM)
        self.assertEqual(client.wait(template.LIMIT_S), -signal.SIGTERM)
        self.assertEqual(made.errors(), "")

    def test_supervisor_is_killed(self):
        made, client, started = self.asleep()
        others = set(children(made.process.pid)) - {started}
        made.process.kill()
        until(lambda: not any(map(exists, others)), "the end of the template and of children that wait")
        self.assertTrue(exists(started))
        os.kill(started, signal.SIGTERM)
        self.assertEqual(client.wait(template.LIMIT_S), 125)

    def test_told_to_end(self):
        made, client, started = self.asleep()
        made.process.terminate()
        until(lambda: children(made.process.pid) == [started], "the end of the other children")
        client.terminate()
        self.assertEqual(client.wait(template.LIMIT_S), -signal.SIGTERM)
        self.assertEqual(made.errors(), "")

    def test_killed_supervisor_leaves_a_socket(self):
        """Another one takes its place; but not that of one that is alive."""
        first = self.template(SLEEP[0]).await_ready()
        others = children(first.process.pid)
        first.process.kill()
        first.process.wait()
        until(lambda: not any(map(exists, others)), "the end of those that can serve")
        self.assertTrue(os.path.exists(first.socket))
        second = self.template("/bin/true").await_ready()
        self.assertEqual(self.start(second, "/bin/true").wait(template.LIMIT_S), 0)
        self.assertIn("Address already in use", self.template("/bin/true").errors())
        self.assertEqual(self.start(second, "/bin/true").wait(template.LIMIT_S), 0)
        self.all_started()
        self.assertEqual(second.stop(), "")

    def test_no_folder_is_held(self):
        """Neither by the template nor by children that wait."""
        made = self.template(SLEEP[0]).await_ready()
        self.assertEqual({os.readlink(f"/proc/{pid}/cwd") for pid in [made.process.pid, *children(made.process.pid)]},
                         {"/"})

    def test_no_child_can_be_made(self):
        """A client is told so; it does not wait."""
        if os.geteuid():
            self.skipTest("there is no other user, who has no processes yet")
        number = 20000 + os.getpid() % 40000  # processes are counted for each user, whatever test runs beside
        user = ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups", "--inh-caps=-all"]
        self.folder.chmod(0o777)
        if subprocess.run([*user, "test", "-x", template.SUPERVISOR], check=False).returncode:
            self.skipTest("another user cannot read the build folder")
        made = self.template(SLEEP[0], prefix=[*user, "prlimit", "--nproc=2"])  # the supervisor and the template
        until(lambda: children(made.process.pid), "the template")

        def answer():
            return subprocess.run([*user, template.CLIENT, "--socket", made.socket, SLEEP[0], "0"], check=True,
                                  env={**os.environ, "WARMVERBS_VERBOSE": "1"}, capture_output=True, text=True).stderr
        until(lambda: "the template cannot fork" in answer(), "a refusal")

    def test_start_signals_its_parent(self):
        """That is the supervisor, which tells how other starts end."""
        made = self.template("/bin/sh").await_ready()
        other = self.start(made, "/bin/sh", "-c", "read line; exit 3", stdin=subprocess.PIPE)
        for number in signal.SIGUSR1, signal.SIGPIPE, signal.SIGRTMIN:
            script = template.in_start(made, f"kill -{int(number)} $PPID")
            started = template.run_client(made.socket, ["/bin/sh", "-c", script], stdin=subprocess.DEVNULL,
                                          env={**os.environ, "WARMVERBS_VERBOSE": "1"})
            self.assertEqual((started.returncode, started.stderr), (0, ""))
        other.communicate(b"go\n", template.LIMIT_S)
        self.assertEqual(other.returncode, 3)
        self.all_started()

    def test_idle(self):
        """Where the machine stands still, a template may not be ready within its idle time."""
        for _ in cases.attempts():
            made = self.template(SLEEP[0], idle=2)
            said = made.errors()
            if "within 2 s" not in said:
                break
        self.assertEqual(said, "")
        self.assertEqual(made.process.returncode, 0)

    def test_many(self):
        """One after the other, and many at once."""
        made = self.template("/bin/sh").await_ready()
        for i in range(200):
            client = self.start(made, "/bin/sh", "-c", f"exit {i}")
            self.assertEqual(client.wait(template.LIMIT_S), i)
        clients = [self.start(made, "/bin/sh", "-c", f"exit {i}") for i in range(100)]
        self.assertEqual([client.wait(template.LIMIT_S) for client in clients], list(range(100)))
        self.all_started()

    def test_cannot_be_a_template(self):
        """The reason is said, and the program is executed."""
        self.assertIn("no template of /nonexistent: No such file", self.template("/nonexistent").errors())
        made = self.template("/bin/true", env={**os.environ, "LD_PRELOAD": "/nonexistent.so"})
        self.assertIn("it has said: ERROR: ld.so", made.errors())
        client = self.start(made, "/bin/true", stderr=subprocess.PIPE)
        self.assertIn(b"executed", client.communicate()[1])
        self.assertEqual(client.returncode, 0)


if __name__ == "__main__":
    template.main()
