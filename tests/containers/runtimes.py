# SPDX-License-Identifier: BSD-2-Clause
"""Starting containers, as an administrator does. Each gets a trace of the case through a folder that both see."""

import contextlib
import grp
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

from suite import resources
from suite.report import Skip, require
from service import node

DEVICE = "warmverbs/rdma=all"
TRACE = "WARMVERBS_TRACE"
USER = "warmverbs-user"
LIMIT_S = 300  # for a hang, on a busy machine
CONTAINERD = pathlib.Path("/run/containerd/containerd.sock")


def need(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        raise Skip(f"not installed: {', '.join(missing)}; run tools/install-deps")


def hooks_say():
    """The lines of hooks in the system's log."""
    command = ["journalctl", "--identifier", "warmverbs", "--output", "cat"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def as_user(*groups):
    """How a user in these groups, who is not root, starts a program; the user may have containers of its own."""
    need("newuidmap", "setpriv", "useradd")
    try:
        home = pathlib.Path(pwd.getpwnam(USER).pw_dir)
    except KeyError:
        home = pathlib.Path(tempfile.gettempdir()) / USER
        subprocess.run(["useradd", "--create-home", "--home-dir", home, USER], check=True)
        (home / "run").mkdir(mode=0o700)
        shutil.chown(home / "run", USER, USER)
    numbers = [str(grp.getgrnam(name).gr_gid) for name in (USER, *groups)]
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", f"--groups={','.join(numbers)}", "env", f"HOME={home}",
            f"XDG_RUNTIME_DIR={home}/run"]


class Node(node.Node):
    """A node with runtimes. The root folder of an image is used as it is: nothing is unpacked."""

    @staticmethod
    def _podman(runtime):
        need("podman", runtime)
        return ["podman", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--runtime", runtime]

    def run_podman(self, root, *command, runtime="crun", device=DEVICE, network="host", options=(), prefix=()):
        words = [*self._podman(runtime), "run", "--rm", "--network", network, "--device", device, "--env", TRACE,
                 "--volume", f"{self.folder}:{self.folder}", *options, "--rootfs", root.folder, *command]
        return self.start([str(word) for word in words], warm=False, prefix=prefix).wait(LIMIT_S)

    @contextlib.contextmanager
    def container(self, root, *command, runtime, env=None):
        """One without devices, which lives as long as the block; how to execute programs in it."""
        podman = self._podman(runtime)
        name = f"warmverbs-{os.getpid()}-{len(self._running)}"
        running = self.start([*podman, "run", "--name", name, "--network", "host",
                              "--volume", f"{self.folder}:{self.folder}", "--rootfs", str(root.folder), *command],
                             warm=False, env=env)
        try:
            yield lambda *words: self.start([*podman, "exec", name, *words], warm=False, env=env).wait(LIMIT_S)
        finally:
            subprocess.run([*podman, "rm", "--force", name], capture_output=True, check=False)
            running.wait(LIMIT_S)

    def run_ctr(self, root, *command):
        need("ctr", "containerd", "runc")
        self._await_containerd()
        name = f"warmverbs-{os.getpid()}-{len(self._running)}"
        config = self.folder / f"{name}.json"
        config.write_text(json.dumps(self._config(root, command)))
        subprocess.run(["warmverbs", "container", "oci", config], check=True)
        return self.start(["ctr", "run", "--rm", "--config", str(config), name], warm=False).wait(LIMIT_S)

    def _config(self, root, command):
        config = json.loads(subprocess.run(["ctr", "oci", "spec"], capture_output=True, check=True).stdout)
        config["root"]["path"] = str(root.folder)
        config["process"].update(args=list(command), terminal=False)
        config["process"]["env"] = ["PATH=/usr/bin", f"{TRACE}={self.next_trace('ctr')}"]
        config["mounts"].append({"destination": str(self.folder), "source": str(self.folder), "type": "none",
                                 "options": ["rbind", "rw"]})
        config["linux"]["namespaces"] = [space for space in config["linux"]["namespaces"] if space["type"] != "network"]
        return config

    def next_trace(self, program):
        """Where start() puts the next trace."""
        return self.folder / f"{len(self._running):02}-{program}.trace"

    def _await_containerd(self):
        self._containerd = self._containerd or subprocess.Popen(
            ["containerd", "--root", self.folder / "containerd", "--log-level", "error"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        require(resources.until(lambda: CONTAINERD.exists() and subprocess.run(
            ["ctr", "version"], capture_output=True, check=False).returncode == 0, LIMIT_S, 0.2),
                "containerd does not answer")

    _containerd = None

    def transcript(self):
        yield from super().transcript()
        yield "what hooks say:"
        yield from hooks_say().splitlines()[-10:]

    def check_nothing_left(self):
        """The daemon has pooled leases; the last case asks, when it has stopped."""

    def end(self):
        """The service stays: what one case has recorded makes the next one warm."""
        for running in self._running:
            running.abort()
        if self._containerd:
            self._containerd.terminate()
            self._containerd.wait()
