# SPDX-License-Identifier: BSD-2-Clause
"""Slurm on this machine: munged, slurmctld, and a slurmd for each of its nodes, with files and ports of their own."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

LIMIT_S = 60
LIBRARIES = pathlib.Path("/usr/lib")
DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("srun", "sbatch", "scancel", "sinfo")
# Each node has a TmpFS of its own: PMIx makes folders there that have the same names on all nodes.
CONFIG = """\
ClusterName=warm
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/ctld
SlurmdSpoolDir={folder}/%n
TmpFS={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SlurmdDebug=debug
PlugStackConfig={folder}/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/linear
SchedulerType=sched/builtin
ReturnToService=2
KillWait=1
SlurmdParameters=config_overrides
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:8 State=UP
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} State=UNKNOWN\n"


def why_not():
    """Why this process cannot run Slurm; None if it can."""
    if os.geteuid():
        return "needs root, to start the tasks of several users"
    missing = [name for name in (*DAEMONS, *COMMANDS) if not find(name)]
    if missing:
        return f"needs {', '.join(missing)}: apt install munge slurmctld slurmd slurm-client"
    return None


def why_no_mpi():
    """Why the tasks of a step cannot be ranks of one MPI program; None if they can. Debian's Open MPI has PMIx only."""
    if not shutil.which("NPopenmpi"):
        return "needs NPopenmpi: apt install netpipe-openmpi"
    if not any(LIBRARIES.glob("*/slurm*/mpi_pmix*.so")):
        return "this Slurm was built without PMIx, as that of Debian sid"
    if not any(LIBRARIES.glob("*/pmix*/lib/libpmix.so")):
        return "needs libpmix.so for srun: apt install libpmix-dev"
    return None


def find(name):
    return shutil.which(name, path="/usr/sbin:/usr/bin:" + os.environ.get("PATH", ""))


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """Slurm whose plugstack.conf is the line @plugin; tasks run in folders that their users can read."""

    def __init__(self, folder, plugin, nodes=1, cpus=8):
        self.folder = folder
        self.nodes = [f"node{i}" for i in range(nodes)]
        self._daemons = []
        self._environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF": str(folder / "slurm.conf")}
        self._write_files(plugin, cpus)
        try:
            self._start_all()
        except BaseException:
            self.stop()
            raise

    def _write_files(self, plugin, cpus):
        for name in ("munge", "ctld", *self.nodes):
            (self.folder / name).mkdir()
            (self.folder / name).chmod(0o755)
        host = socket.gethostname().partition(".")[0]
        port, *ports = free_ports(1 + len(self.nodes))
        nodes = [NODE.format(name=name, host=host, port=port, cpus=cpus) for name, port in zip(self.nodes, ports)]
        files = {"slurm.conf": CONFIG.format(folder=self.folder, host=host, port=port) + "".join(nodes),
                 "cgroup.conf": "CgroupPlugin=cgroup/v1\n"}
        for name, text in files.items():
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o644)
        self.load(plugin)
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)

    def load(self, plugin):
        """From the next step on, plugstack.conf is the line @plugin."""
        path = self.folder / "plugstack.conf"
        path.write_text(plugin + "\n")
        path.chmod(0o644)

    def _start_all(self):
        munge = self.folder / "munge"
        self._start("munged", "--foreground", "--force", f"--socket={munge}/socket", f"--key-file={munge}/key",
                    f"--pid-file={munge}/pid", f"--seed-file={munge}/seed", f"--log-file={munge}/log")
        self._await((munge / "socket").exists, "munged listens")
        self._start("slurmctld", "-D", "-c")
        for name in self.nodes:
            self._start("slurmd", "-D", "-c", "-N", name)
        self._await(self._are_idle, "the nodes are idle")

    def _start(self, name, *options):
        with open(self.folder / f"{name}{len(self._daemons)}.out", "wb") as out:
            self._daemons.append(subprocess.Popen(
                [find(name), *options], stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self._environment))

    def _await(self, condition, what):
        end = time.monotonic() + LIMIT_S
        while not condition():
            if time.monotonic() > end or any(daemon.poll() is not None for daemon in self._daemons):
                raise AssertionError(f"not so: {what}\n{self.logs()}")
            time.sleep(0.05)

    def _are_idle(self):
        return self.run("sinfo", "--noheader", "--Node", "--format=%T").stdout.split() == ["idle"] * len(self.nodes)

    def environment(self, extra=None):
        return {**self._environment, **(extra or {})}

    def run(self, command, *words, **kwargs):
        return subprocess.run([find(command), *map(str, words)], env=self._environment, capture_output=True,
                              text=True, check=False, timeout=LIMIT_S, **kwargs)

    def log(self, node):
        return (self.folder / f"{node}.log").read_text(errors="replace")

    def logs(self):
        return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-3000:]}"
                         for path in sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")]))

    def stop(self):
        for daemon in reversed(self._daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
