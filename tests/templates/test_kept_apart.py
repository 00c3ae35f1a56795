#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What one start does reaches no other, and what is a client's alone stays its own."""

import os
import select
import signal
import socket
import subprocess
import threading

import template
from support import cases
from template import CLIENT, children, until

SH = "/bin/sh"


class KeptApart(template.Case):
    def run_sh(self, made, script, **kwargs):
        """Started, or the test has failed."""
        result = template.run_client(made.socket, [SH, "-c", script], stdin=subprocess.DEVNULL,
                                     env={**os.environ, "WARMVERBS_VERBOSE": "1"}, **kwargs)
        self.assertEqual(result.stderr, "")
        return result

    def test_signal_to_the_group(self):
        """It ends those that the start has made, and nobody else."""
        made = self.template(SH).await_ready()
        other = self.start(made, SH, "-c", "read line; exit 3", stdin=subprocess.PIPE)
        self.addCleanup(other.stdin.close)
        self.assertEqual(self.run_sh(made, template.in_start(made, "sleep 100 & kill -9 0")).returncode,
                         -signal.SIGKILL)
        other.stdin.write(b"go\n")
        other.stdin.flush()
        self.assertEqual(other.wait(template.LIMIT_S), 3)
        self.assertIsNone(made.process.poll())

    def test_orphans(self):
        """Processes that starts leave behind are not taken for children that wait."""
        made = self.template(SH, ready=4).await_ready()
        for _ in range(30):
            self.run_sh(made, "(true & true &) &")
        until(lambda: len(children(made.process.pid)) <= 5, "no more children than wanted")

    def test_closed_output(self):
        """A reader sees its end as soon as the start closes it."""
        made = self.template(SH).await_ready()
        client = self.start(made, SH, "-c", "exec >&- 2>&-; sleep 100", stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
        self.addCleanup(client.stdout.close)
        self.addCleanup(client.kill)
        self.assertTrue(select.select([client.stdout], [], [], template.LIMIT_S)[0])
        self.assertEqual(client.stdout.read(), b"")
        self.assertIsNone(client.poll())

    def test_signal_at_once(self):
        """Whenever a signal comes, the program gets it."""
        made = self.template(SH).await_ready()
        script = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done"
        for _ in range(10):
            client = self.start(made, SH, "-c", script, stdout=subprocess.PIPE)
            client.stdout.readline()
            client.terminate()
            self.assertEqual(client.wait(template.LIMIT_S), 5)
            client.stdout.close()
        self.all_started()

    def stopped(self, made):
        """A client of a start that has stopped itself."""
        for _ in cases.attempts():
            client = self.start(made, SH, "-c", template.in_start(made, "kill -STOP $$; exit 4"))
            stopped = until(lambda: [pid for pid in children(made.process.pid) if self.state(pid) == "T"] or
                            self.state(client.pid) == "Z", "a stopped start, or the end of what is none")
            if stopped is not True:
                self.assertEqual(len(stopped), 1)
                return client
            self.assertEqual(client.wait(), template.EXECUTED)
        self.fail("no start")

    def test_stopped_and_continued(self):
        """A start that has stopped itself goes on when its client is continued."""
        made = self.template(SH).await_ready()
        client = self.stopped(made)
        client.send_signal(signal.SIGCONT)
        self.assertEqual(client.wait(template.LIMIT_S), 4)

    @staticmethod
    def state(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rpartition(")")[2].split()[0]
        except OSError:  # it has ended
            return None

    def test_other_user_listens(self):
        """He gets nothing of what the client has."""
        if os.geteuid():
            self.skipTest("there is no other user")
        path = str(self.folder / "theirs")
        self.folder.chmod(0o777)
        got = []
        ready = threading.Event()

        def listen():
            pid = os.fork()
            if not pid:
                os.setresuid(2003, 2003, 2003)
                sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                sock.bind(path + ".new")
                os.chmod(path + ".new", 0o777)
                sock.listen()
                os.rename(path + ".new", path)
                connection, _ = sock.accept()
                os._exit(1 if connection.recv(1 << 17) else 0)
            ready.set()
            got.append(os.waitpid(pid, 0)[1])
        thread = threading.Thread(target=listen)
        thread.start()
        ready.wait()
        until(lambda: os.path.exists(path), "the socket")
        result = subprocess.run([CLIENT, "--socket", path, "/bin/echo", "1"], capture_output=True, text=True,
                                env={**os.environ, "WARMVERBS_VERBOSE": "1"}, check=False)
        thread.join()
        self.assertEqual(result.stdout, "1\n")
        self.assertIn("not permitted", result.stderr)
        self.assertEqual(got, [0])


if __name__ == "__main__":
    template.main()
