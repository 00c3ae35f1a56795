#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/standin/run: it does not change the command's run, and leaves nothing behind.

usage: test_run.py RUN BUILD
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
from support import cases  # noqa: E402  (the path comes first)
from support.processes import is_alive  # noqa: E402

RUN, BUILD = sys.argv.pop(1), sys.argv.pop(1)
MODELS = os.path.join(os.path.dirname(RUN), "models")
LINE = re.compile(r"^(\w+) (\d+) # (.+)$")


def run(*command, options=(), **more):
    return subprocess.run([RUN, "--build", BUILD, *options, "--", *command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


class Run(unittest.TestCase):
    def test_status_is_the_commands(self):
        self.assertEqual(run("sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(run("true").returncode, 0)

    def test_device_is_there(self):
        done = run("ibv_devinfo")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("mlx5_0", done.stdout)
        self.assertIn("PORT_ACTIVE", done.stdout)

    def test_preloads_keep_their_order(self):
        done = run("printenv", "LD_PRELOAD", env={**os.environ, "LD_PRELOAD": "libm.so.6 libdl.so.2"})
        words = done.stdout.split()
        self.assertEqual(words[:2], ["libm.so.6", "libdl.so.2"])
        self.assertTrue(words[2].endswith("libstandin.so"))

    def test_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("sh", "-c", 'echo "$STANDIN_SOCKET"', env={**os.environ, "TMPDIR": folder})
            self.assertTrue(done.stdout.startswith(folder))
            self.assertEqual(os.listdir(folder), [])

    def test_server_ends_with_a_killed_runner(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = subprocess.Popen([RUN, "--build", BUILD, "--", "sh", "-c", "echo; exec sleep 60"],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      env={**os.environ, "TMPDIR": folder})
            runner.stdout.readline()
            with open(f"/proc/{runner.pid}/task/{runner.pid}/children", encoding="ascii") as children:
                pids = [int(pid) for pid in children.read().split()]
            self.assertEqual(len(pids), 2)
            runner.kill()
            runner.wait()
            runner.stdout.close()
            for pid in pids:
                with open(f"/proc/{pid}/cmdline", encoding="ascii") as line:
                    if "sleep" in line.read():
                        os.kill(pid, signal.SIGKILL)
            # Runs into the test's time limit if one of them stays.
            while any(is_alive(pid) for pid in pids):
                time.sleep(0.01)

    def test_as_an_ordinary_user(self):
        if os.geteuid():
            self.skipTest("is one")
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "test", "-x",
                               os.path.join(BUILD, "tests/standin/standin-hca")], check=False)
        if done.returncode:
            self.skipTest("the build folder is root's only")
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", RUN, "--build",
                               BUILD, "--", "ibv_devinfo"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("mlx5_0", done.stdout)

    def test_refuses(self):
        self.assertEqual(run("true", options=["--nonsense"]).returncode, 2)
        self.assertEqual(subprocess.run([RUN, "--build", BUILD], stderr=subprocess.DEVNULL).returncode, 2)
        done = run("true", options=["--model", "/nowhere/model"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("does not start", done.stderr)


class Nodes(unittest.TestCase):
    """Node 1 is the command's; its environment names another."""

    ON_2 = "SYSFS_PATH=$STANDIN_FOLDER/2/sys STANDIN_SOCKET=$STANDIN_FOLDER/2/socket"

    def guids(self, prefix=""):
        done = run("sh", "-c", f"{prefix} ibv_devinfo", options=["--nodes", "2"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.findall(r"node_guid:\s+(\S+)", done.stdout)

    def test_each_sees_its_own_adapter(self):
        self.assertEqual(self.guids(), ["0200:0000:0000:0001"])
        self.assertEqual(self.guids(self.ON_2), ["0200:0000:0000:0002"])

    def test_each_counts_its_own_commands(self):
        done = run("sh", "-c", f'{self.ON_2} ibv_devinfo >&2; "$STANDIN_HCA" ctl counts', options=["--nodes", "2"])
        self.assertEqual(json.loads(done.stdout), {})

    def test_a_removed_adapter_leaves_the_other(self):
        done = run("sh", "-c", f'{self.ON_2} "$STANDIN_HCA" ctl remove >&2; ibv_devinfo; {self.ON_2} ibv_devinfo >&2',
                   options=["--nodes", "2"])
        self.assertIn("mlx5_0", done.stdout)
        self.assertNotEqual(done.returncode, 0)

    def test_each_has_an_address(self):
        if subprocess.run(["unshare", "--net", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("only root may make a network")
        bind = "import socket; socket.socket().bind(('192.0.2.2', 0)); socket.socket().bind(('192.0.2.1', 0))"
        self.assertEqual(run(sys.executable, "-c", bind, options=["--nodes", "2"]).returncode, 0)

    def test_refuses(self):
        for number in ("0", "9", "two", ""):
            self.assertEqual(run("true", options=["--nodes", number]).returncode, 2)


class Model(unittest.TestCase):
    def run_with(self, text, *command):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as model:
            model.write(text)
            model.flush()
            return run(*command, options=["--model", model.name])

    def test_unknown_command(self):
        done = self.run_with("CREATE_QP 1 # one\nCREATE_QB 2 # two\n", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn(":2:", done.stderr)

    def test_takes_as_long(self):
        """At least as long: how much longer depends on the machine."""
        start = time.monotonic()
        done = self.run_with("QUERY_HCA_CAP 150000 # long\nproc_cpuinfo 150000 # long\n", "ibv_devinfo")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(time.monotonic() - start, 0.3)

    def test_cpuinfo_is_counted(self):
        done = run("sh", "-c", 'ibv_devinfo >/dev/null && "$STANDIN_HCA" ctl counts')
        (counts, ) = [c for pid, c in json.loads(done.stdout).items() if pid != "cleanup"]
        self.assertEqual(counts["commands"]["proc_cpuinfo"], 1)

    def test_each_figure_has_a_source(self):
        for name in os.listdir(MODELS):
            with open(os.path.join(MODELS, name), encoding="utf-8") as lines:
                for line in lines:
                    if line.strip() and not line.startswith("#"):
                        self.assertRegex(line.rstrip("\n"), LINE, name)

    def test_models_load(self):
        for name in os.listdir(MODELS):
            self.assertEqual(run("true", options=["--model", name.removesuffix(".conf")]).returncode, 0)


if __name__ == "__main__":
    cases.main()
