# SPDX-License-Identifier: BSD-2-Clause
"""What a case works with: a daemon, programs, and the check that they leave nothing behind."""

import contextlib
import os
import pathlib
import re
import shutil

from support import ports, trace, zygote
from support.cases import attempts

from . import daemon, places, resources
from .programs import Running
from .report import Again, require, require_equal


class Lab:
    devices = (places.DEVICE, places.DEVICE)  # of a server and its client

    def __init__(self, build, folder, base):
        self.build = build
        self.folder = pathlib.Path(folder)
        self.base = base
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.daemon = None
        self._socket_folder = daemon.socket_folder(self.folder)
        self._running = []
        self._host = None
        self._at_end = contextlib.ExitStack()

    def use(self, device, host, delete):
        """Has the programs use another device than soft-RoCE's. delete() is called when all have ended."""
        self._at_end.callback(delete)
        self.devices, self._host = (device, device), host
        self.base = self.objects()

    def start_daemon(self, options=(), prefix=()):
        """Starts it for the first time, or again."""
        if self.daemon is None:
            self.daemon = daemon.Daemon(self.build, self._socket_folder, options, prefix)
        return self.daemon.start()

    @property
    def host(self):
        """The address where programs meet their server."""
        return self._host or places.address()

    def objects(self):
        """The RDMA objects that exist."""
        return resources.counts(self.devices[0])

    @property
    def socket(self):
        return self._socket_folder / "socket"

    def environment(self, warm, trace_path=None, extra=None):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith("WARMVERBS_") and name != "LD_PRELOAD"}
        if warm:
            env.update(LD_PRELOAD=str(self.build.preload), WARMVERBS_SOCKET=str(self.socket), WARMVERBS_SPARES="1")
        if warm and trace_path:
            env.update(WARMVERBS_TRACE=str(trace_path))
        env.update(extra or {})
        return env

    @property
    def trace_folder(self):
        return self.folder

    def launch(self, command, environment):
        """What to execute, and with which environment, to run the command with that one."""
        return command, environment

    def start(self, command, warm=False, env=None, name=None, user=False):
        """Starts a program; user: as an unprivileged user."""
        name = f"{len(self._running):02}-{name or pathlib.Path(command[0]).name}"
        trace_path = self.trace_folder / f"{name}.trace" if warm else None
        command = places.as_other_user(command) if user else command
        command, environment = self.launch(command, self.environment(warm, trace_path, env))
        running = Running(command, environment, self.folder, name, trace_path)
        self._running.append(running)
        return running

    def start_zygote(self, warm=False, sets=3, trace=True):
        """Starts a zygote that keeps @sets sets for its children."""
        name = f"{len(self._running):02}-zygote"
        trace_path = self.folder / f"{name}.trace" if warm and trace else None
        env = self.environment(warm, trace_path, {"WARMVERBS_PREFORK": str(sets)} if warm else None)
        running = zygote.First([self.build.program("zygote")], env, self.folder / f"{name}.err")
        running.trace_path = trace_path
        self._running.append(running)
        return running

    def run(self, command, warm=False, env=None, name=None, user=False, limit=60):
        return self.start(command, warm, env, name, user).wait(limit)

    def await_full(self):
        self.daemon.await_full()

    def settle(self):
        """Waits until the daemon, if there is one, makes no more leases."""
        if self.daemon:
            self.daemon.settle()

    def run_answered(self, run, before_another=lambda: None):
        """What run() returns, a list of results, when the daemon answered all programs in time; else all are run
        again."""
        for _ in attempts():
            results = run()
            if not any(trace.unanswered(result.events) for result in results):
                break
            before_another()
        return results

    def record(self, command, env=None):
        """The first run of a program: the daemon records it."""
        [result] = self.run_answered(lambda: [self.run(command, warm=True, env=env)])
        return result

    def run_leased(self, run):
        """The same where there are leases."""
        def leased():
            self.await_full()
            return run()
        return self.run_answered(leased)

    def pair(self, server, client, warm, ready, endless=False):
        """Runs a server and its client, with warmverbs as @warm says for each; returns their results."""
        return serve((self, self), (server, client), warm, ready, endless)

    def end(self):
        """Ends everything that the case has started."""
        for running in self._running:
            running.abort()
        if self.daemon and self.daemon.running:
            self.daemon.check_descriptors()
            self.daemon.check_ufiles(self.base, self.objects)
            self.daemon.stop()

    def check_nothing_left(self):
        require(resources.until(lambda: self.objects() == self.base, resources.LIMIT_S),
                f"RDMA objects are left: {self.objects()}, at first {self.base}")

    def remove(self):
        self._at_end.close()
        shutil.rmtree(self.folder)

    def transcript(self):
        for running in self._running:
            yield from running.transcript()
        if self.daemon:
            yield "daemon:"
            for line in self.daemon.log_text().splitlines()[-60:]:
                yield f"  {line}"
        if self.daemon and self.daemon.running:
            self.daemon.kill()


REJECTED = "RDMA_CM_EVENT_REJECTED"
# IBV_WC_RETRY_EXC_ERR, as perftest and the examples of rdma-core print it.
UNACKNOWLEDGED = re.compile(r"\b[Ff]ailed status (transport retry counter exceeded \(12\)|12\b)")


def serve(labs, commands, warm, ready, endless):
    """Lab.pair(), where @labs say who starts the server, and who the client. The kernel rejects some clients of servers
    that sleep after rdma_listen(). Plainly, too; but with warmverbs the daemon has learned half a start of theirs, and
    the server of perftest waits for ever. So the case begins once more."""
    running = labs[0].start(commands[0], warm[0], name="server")
    require(resources.until(lambda: ready(running) or running.process.poll() is not None, 20),
            "the server does not listen")
    result = labs[1].run(commands[1], warm[1], name="client")
    said = result.out + result.err
    if REJECTED in said and running.process.poll() is None:
        raise Again(f"the kernel rejects {result.command}, whose server listens")
    if UNACKNOWLEDGED.search(said) and not any(warm):
        raise Again(f"{result.command} waited in vain for its server's processor, without warmverbs")
    return running.terminate() if endless else running.wait(), result


def listening(port):
    """For Lab.pair(): whether a TCP server listens there."""
    return lambda _running: ports.is_listened_to(port)


_first_ticks = {}


def is_past_call(pid):
    """Whether a process waits in the kernel, where a signal would wake it, or was outside the kernel since this was
    asked first."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return False
    state, user_ticks, start = stat[0], int(stat[11]), stat[19]
    return state == "S" or user_ticks > _first_ticks.setdefault((pid, start), user_ticks)


def cm_listeners():
    """The lines of `rdma resource show` about servers of librdmacm that wait for clients. rdma_listen() changes the
    state before a server can be reached."""
    lines = [f"{line} " for line in os.popen("rdma resource show cm_id").read().splitlines()]
    pids = {line: re.search(r" state LISTEN .* pid (\d+) ", line) for line in lines}
    return [line for line, pid in pids.items() if pid and is_past_call(pid[1])]


def accepting(running):
    """For Lab.pair(): whether a server of librdmacm listens."""
    return any(f"pid {running.pid} " in line for line in cm_listeners())


def cm_listening(port):
    """For Lab.pair(): whether a child of the server may listen there by librdmacm."""
    return lambda _running: any(f":{port} " in line for line in cm_listeners())


def same(plain, warm, how="shape"):
    """Checks that two runs of a program had the same result."""
    require_equal(getattr(warm, how)(), getattr(plain, how)(), f"result of {warm.command}")


def device_options(gid="-g"):
    return ["-d", places.DEVICE, gid, "1"]
