# SPDX-License-Identifier: BSD-2-Clause
"""What a case works with: the service, and programs that run as users start them."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

from suite import places, resources
from suite.lab import listening
from suite.programs import Running
from suite.report import require, require_equal
from support import pools, trace

from . import units

RUN_DIR = pathlib.Path("/run/warmverbs")
LISTENING = RUN_DIR / "socket"
PROVIDERS = RUN_DIR / "providers"
STATE_DIR = pathlib.Path("/var/lib/warmverbs")
CONFIG = pathlib.Path("/etc/warmverbs/warmverbsd.conf")
PORT = 18515
LIMIT_S = 300  # for a hang, on a busy machine
LONG = 1000  # round trips of a program that still runs when it is stopped


def adopted(result):
    return bool(trace.opens(result.events, trace.ADOPTED))


def check_right(result):
    require_equal(result.status, 0, f"exit status of {result.command}")


def check_adopted(result):
    check_right(result)
    require(adopted(result), f"there was no lease for {result.command}")


def check_plain(results):
    for result in results:
        check_right(result)
        require(not adopted(result), f"there was a lease for {result.command}")


class Node:
    def __init__(self, build, folder, base):
        self.build = build
        self.folder = folder
        self.base = base
        self.journal = None  # from the start of the service on
        self._running = []
        folder.mkdir()
        folder.chmod(0o777)

    # The service

    def start_service(self):
        """Starts what `systemctl enable --now` starts."""
        self.start_unit(units.SOCKET, units.SERVICE)

    def start_unit(self, *names):
        self.journal = self.journal or units.Journal()
        units.systemctl("start", *names)

    def status(self):
        """What the daemon says of itself, as soon as it answers."""
        def answer():
            result = subprocess.run(["warmverbs", "status", "--json"], capture_output=True, check=False)
            return result.returncode == 0 and json.loads(result.stdout)
        status = resources.until(answer, LIMIT_S)
        require(status, "the daemon does not answer")
        return status

    def await_leases(self):
        """Waits until each recipe has the leases that the daemon wants."""
        def ready():
            return pools.are_full(self.status()["recipes"])
        require(resources.until(ready, LIMIT_S, 0.2), f"leases are not made: {self.status()['recipes']}")

    def warm_service(self):
        """Starts the service and waits until programs are warm."""
        self.start_service()
        self.check_warm(self.objects)

    def check_warm(self, run):
        """Runs a program, or several, until there are leases: after it was recorded, and on a busy machine an answer
        may come too late."""
        def leased():
            results = run()
            for result in results:
                check_right(result)
            self.await_leases()
            return all(map(adopted, results))
        require(resources.until(leased, LIMIT_S), "there are no leases")

    # Programs

    def start(self, command, warm=True, prefix=(), env=None):
        """Starts a program as a user would: by warmverbs run."""
        name = f"{len(self._running):02}-{pathlib.Path(command[0]).name}"
        trace_path = self.folder / f"{name}.trace"
        launch = ["warmverbs", "run", "--"] if warm else []
        environment = {**os.environ, "WARMVERBS_TRACE": str(trace_path), **(env or {})}
        running = Running([*prefix, *launch, *command], environment, self.folder, name, trace_path)
        self._running.append(running)
        return running

    def pingpong_pair(self, n=100, **how):
        """Starts ibv_rc_pingpong, which checks the data that it receives, and its client. They sleep while they wait:
        the daemon and systemd need the processors too."""
        command = ["ibv_rc_pingpong", "-d", places.DEVICE, "-g", "1", "-n", str(n), "-s", "256", "-c", "-e"]
        server = self.start(command, **how)
        require(resources.until(lambda: listening(PORT)(server), LIMIT_S), "the server does not listen")
        return server, self.start([*command, places.address()], **how)

    def pingpong(self, **how):
        return [running.wait(LIMIT_S) for running in self.pingpong_pair(**how)]

    def objects(self, **how):
        return [self.start([self.build.program("objects")], **how).wait(LIMIT_S)]

    def connected(self):
        """A program that has a lease, and waits with connected queue pairs until it is told to send."""
        running = self.start([self.build.program("objects")], env={"OBJECTS": "-p connected"})
        running.await_text("at connected", LIMIT_S)
        require(trace.opens(trace.read(running.trace_path), trace.ADOPTED), "there was no lease")
        return running

    def stopped_traffic(self):
        """Two programs with leases, stopped in the middle of their traffic."""
        pair = self.pingpong_pair(LONG)
        require(resources.until(lambda: all(map(is_sending, pair)), LIMIT_S, 0.005), "the programs do not connect")
        for running in pair:
            running.process.send_signal(signal.SIGSTOP)
        require(all(running.process.poll() is None for running in pair), "the traffic is over too soon")
        return pair

    @contextlib.contextmanager
    def connecting(self):
        """Connects to the socket all the time; no attempt may fail, as long as the block lasts."""
        over = threading.Event()
        errors = []

        def go_on():
            while not over.is_set():
                errors.extend(filter(None, [attempt()]))
                time.sleep(0.01)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        require_equal(errors, [], "errors of connections")

    # For report.run_all()

    def end(self):
        if not self.journal:  # The case has not started anything.
            return
        for running in self._running:
            if running.process.poll() is None:
                running.process.send_signal(signal.SIGCONT)
            running.abort()
        CONFIG.unlink(missing_ok=True)
        units.remove_drop_in()
        units.systemctl("stop", units.SOCKET, units.SERVICE)
        units.systemctl("reset-failed")

    def check_nothing_left(self):
        require(resources.until(lambda: resources.counts() == self.base, 20),
                f"RDMA objects are left: {resources.counts()}, at first {self.base}")

    def transcript(self):
        for running in self._running:
            yield from running.transcript()
        yield "journal:"
        entries = self.journal.entries()[-60:] if self.journal else []
        yield from (f"  {entry['PRIORITY']} {entry['MESSAGE']}" for entry in entries)

    def remove(self):
        shutil.rmtree(self.folder)


def is_sending(running):
    return any(event.qp_state == trace.RTS for event in trace.read(running.trace_path))


def attempt():
    """Connects and closes; returns the error. A full queue is none: the socket is there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK) as sock:
        try:
            sock.connect(str(LISTENING))
        except BlockingIOError:
            pass
        except OSError as error:
            return error
    return None
