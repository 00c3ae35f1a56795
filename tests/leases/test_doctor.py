#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""`warmverbs doctor` and `run --summary`: what they say when all is well, and when one thing is not."""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import threading
import unittest

from support import bed, cases
from support.wire import CONTROL, HEADER, MAGIC, VERSION

SMALL = "open pd cq qp:rc move:init"
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def run_cli(*words, env=None, prefix=(), files=None, **kwargs):
    """Runs warmverbs on the stand-in; @files: (command line, stand-in), if not those of the build."""
    cli, standin = files or (bed.CLI, bed.STANDIN)
    environment = bed.environment(bed.CLI, False, {"WARMVERBS_LIBRARY": bed.PRELOAD, **(env or {})}, standin=standin)
    return subprocess.run([*prefix, cli, *map(str, words)], env=environment, capture_output=True, text=True,
                          check=False, timeout=bed.LIMIT_S, **kwargs)


class Doctor(bed.Case):
    def doctor(self, *words, **how):
        """The exit status, and {check: its findings that are not well}."""
        result = run_cli("doctor", "--json", "--socket", self.daemon.socket, *words, **how)
        self.assertEqual(result.stderr, "")
        report = json.loads(result.stdout)
        self.assertEqual(report["well"], result.returncode == 0)
        bad = {}
        for finding in report["findings"]:
            if finding["mark"] != "ok":
                bad.setdefault(finding["check"], []).append(finding)
        return result.returncode, bad

    def expect_fail(self, check, found, remedy, *words, **how):
        """One check fails, and no other."""
        status, bad = self.doctor(*words, **how)
        self.assertEqual(status, 1, bad)
        self.assertEqual([name for name, all_of in bad.items() if any(f["mark"] == "fail" for f in all_of)], [check])
        finding, = bad[check]
        self.assertIn(found, finding["found"])
        self.assertIn(remedy, finding["remedy"])

    def test_all_is_well(self):
        self.learn(SMALL)
        status, bad = self.doctor()
        self.assertEqual(status, 0, bad)
        self.assertEqual(set(bad) - {"memlock"}, set())

    def test_text(self):
        result = run_cli("doctor", "--socket", self.daemon.socket)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^ok +device +mlx5_0: mlx5, /dev/infiniband/uverbs0 opens$")
        self.assertRegex(result.stdout, r"(?m)^ok +daemon +warmverbsd \S+ answers")
        self.assertIn("\nall is well", result.stdout)

    def test_no_daemon(self):
        self.expect_fail("socket", "No such file", "warmverbs", "--socket", self.folder / "none")

    def test_killed_daemon(self):
        path = self.folder / "stale"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(path))
            listener.listen()
        self.expect_fail("socket", "nobody listens", "systemctl start warmverbsd", "--socket", path)

    def test_stopped_daemon(self):
        os.kill(self.daemon.pid, signal.SIGSTOP)
        try:
            self.expect_fail("daemon", f"process {self.daemon.pid} is stopped", f"kill -CONT {self.daemon.pid}")
        finally:
            os.kill(self.daemon.pid, signal.SIGCONT)

    def check_with_answer(self, answer):
        """With somebody who listens, and gives every message that answer; None: closes."""
        path = self.folder / f"{self.name}.socket"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(path))
            listener.listen()

            listener.settimeout(bed.LIMIT_S)

            def serve():
                asked = False
                while not asked:  # it may connect only to see who listens
                    client, _ = listener.accept()
                    with client:
                        asked = client.recv(4096)
                        if asked and answer:
                            client.send(answer)

            thread = threading.Thread(target=serve)
            thread.start()
            self.addCleanup(thread.join)
            self.expect_fail("daemon", "of another version", "systemctl restart warmverbsd", "--socket", path)

    def test_daemon_of_another_version(self):
        self.check_with_answer(HEADER.pack(MAGIC, VERSION + 1, CONTROL, HEADER.size, 0))

    def test_daemon_that_takes_us_for_another_version(self):
        """The genuine one closes the connection, so that is what another version looks like."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(bed.LIMIT_S)
            client.connect(str(self.daemon.socket))
            client.send(HEADER.pack(MAGIC, VERSION + 1, CONTROL, HEADER.size, 0))
            self.assertEqual(client.recv(4096), b"")
        self.check_with_answer(None)

    def test_no_device(self):
        sysfs = self.folder / "sysfs"
        (sysfs / "class").mkdir(parents=True)
        self.expect_fail("device", "there is no RDMA device", "modprobe", env={"SYSFS_PATH": str(sysfs)})

    def test_device_that_the_daemon_does_not_know(self):
        sysfs = self.folder / "renamed"
        shutil.copytree(os.environ["SYSFS_PATH"], sysfs, symlinks=True)
        (sysfs / "class/infiniband_verbs/uverbs0/ibdev").write_text("mlx5_9\n")
        self.expect_fail("leasing", "the daemon does not know mlx5_9", "journalctl", env={"SYSFS_PATH": str(sysfs)})

    def test_environment(self):
        self.expect_fail("environment", "WARMVERBS_DISABLE=1", "unset WARMVERBS_DISABLE",
                         env={"WARMVERBS_DISABLE": "1"})

    def test_missing_library(self):
        self.expect_fail("library", "/nowhere/lib.so", "install", env={"WARMVERBS_LIBRARY": "/nowhere/lib.so"})

    def published(self):
        """Copies that other users can run, wherever the build is."""
        files = [shutil.copy(file, self.folder) for file in (bed.CLI, bed.STANDIN)]
        for file in files:
            os.chmod(file, 0o755)
        return files

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_socket_without_permission(self):
        self.daemon.socket.chmod(0o600)
        self.addCleanup(self.daemon.socket.chmod, 0o660)
        library = shutil.copy(bed.PRELOAD, self.folder)
        os.chmod(library, 0o755)
        self.expect_fail("socket", "this user may not connect", "group", prefix=AS_NOBODY, files=self.published(),
                         env={"WARMVERBS_LIBRARY": library})

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_small_memlock(self):
        """Of a user who may connect. Leases are possible, so this is a note."""
        self.daemon.socket.chmod(0o666)
        self.addCleanup(self.daemon.socket.chmod, 0o660)
        library = shutil.copy(bed.PRELOAD, self.folder)
        os.chmod(library, 0o755)
        status, bad = self.doctor(
            prefix=AS_NOBODY, files=self.published(), env={"WARMVERBS_LIBRARY": library},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536)))
        self.assertEqual(status, 0, bad)
        finding, = bad["memlock"]
        self.assertIn("64 KiB", finding["found"])
        self.assertIn("memlock", finding["remedy"])

    def test_untrusted_list(self):
        providers = self.folder / "providers"
        providers.chmod(0o666)
        self.addCleanup(providers.chmod, 0o644)
        self.expect_fail("list", "programs do not trust", "chmod go-w")


class Summary(bed.Case):
    def summary(self, words):
        """What `run --summary` prints for a program of words."""
        env = {"WARMVERBS_NAME": self.name, "WARMVERBS_SOCKET": str(self.daemon.socket)}
        result = run_cli("run", "--summary", "--", bed.WORDS, *words.split(), env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    @unittest.skipIf(bed.SANITIZED, "the preload would come before the sanitizer's runtime")
    def test_first_run_and_next(self):
        self.assertIn("this run was recorded; run it again", self.summary(SMALL))
        for _ in cases.attempts():
            self.daemon.await_ready(self.name)
            line = self.summary(SMALL)
            if "done ahead" in line:
                break
        self.assertRegex(line, r"\Awarmverbs: [1-9]\d* of \d+ commands were done ahead \(leases: 1 of 1 opens\), "
                               r"first QP in INIT after [\d.]+ [mu]s\n\Z")


if __name__ == "__main__":
    bed.main()
