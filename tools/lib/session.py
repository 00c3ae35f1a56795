# SPDX-License-Identifier: BSD-2-Clause
"""A private node for tests, demo and benchmarks: its daemon, and programs that run there plainly, with the provider
preload alone, or warm."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

MODES = ("plain", "preload", "warm")
START_SECONDS = 20
READY_SECONDS = 60
RUN_SECONDS = 120
POLL_SECONDS = 0.02


class SessionError(Exception):
    """A program failed; the text says which one and what it printed."""


class Node:
    """A daemon with an empty store of recipes, for as long as the block lasts."""

    def __init__(self, products, *options, env=None):
        """`options` are the daemon's; `env` is what the environment of all that runs there has besides."""
        self.products = products
        self.options = options
        self.env = {**os.environ, **(env or {})}

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="warmverbs-node-"))
        self.socket = self.folder / "socket"
        self.log = self.folder / "log"
        with open(self.log, "wb") as log:
            self.daemon = subprocess.Popen(
                [self.products.daemon, "--socket", self.socket, "--state-dir", self.folder / "state", *self.options],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            wait_until(self.listening, START_SECONDS, lambda: f"warmverbsd did not start: {self.log.read_text()}")
        except SessionError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.daemon.terminate()
        self.daemon.wait(START_SECONDS)
        shutil.rmtree(self.folder)

    def listening(self):
        if self.daemon.poll() is not None:
            raise SessionError(f"warmverbsd ended ({self.daemon.returncode}): {self.log.read_text()}")
        return self.socket.exists()

    def environment(self, mode, preload=(), **extra):
        """The environment of a program in one of MODES; the libraries in `preload` come before ours. Libraries that
        this process itself has preloaded come last: on the stand-in, that is the device."""
        environment = {**self.env, **{name: str(value) for name, value in extra.items()}}
        libraries = [*preload]
        if mode != "plain":
            libraries.append(self.products.library)
            environment["WARMVERBS_SOCKET"] = str(self.socket)
            environment.setdefault("WARMVERBS_SPARES", "1")  # the programs have one thread
        if mode == "preload":
            environment["WARMVERBS_LEASE"] = "0"
        if libraries:
            libraries += environment.get("LD_PRELOAD", "").split()
            environment["LD_PRELOAD"] = " ".join(map(str, libraries))
        return environment

    def start(self, command, mode, **options):
        return subprocess.Popen(
            [str(word) for word in command],
            env=self.environment(mode, **options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def run(self, command, mode, **options):
        """Run a program to its end and return what it printed; it must succeed."""
        return finish(self.start(command, mode, **options))

    def status(self):
        return json.loads(self.ask("status", "--json"))

    def forget(self):
        """Drop all recipes and their leases."""
        self.ask("recipes", "forget", "all")

    def ask(self, *words):
        """Run a command of `warmverbs` and return what it printed."""
        environment = {**self.env, "WARMVERBS_SOCKET": str(self.socket)}
        result = subprocess.run([self.products.command, *words], env=environment, stdout=subprocess.PIPE, check=True)
        return result.stdout

    def settle(self):
        """Wait until every recipe has the leases that the daemon wants it to have."""
        wait_until(self.settled, READY_SECONDS, self._what_is_missing)

    def _what_is_missing(self):
        return f"leases were not made:\n{json.dumps(self.status(), indent=1)}\n{self.log.read_text()}"

    def settled(self):
        return all(recipe["unfit"] or is_full(recipe["pool"]) for recipe in self.status()["recipes"])


def is_full(pool):
    # The daemon decides a little later how many leases a new recipe should have: at least one.
    return pool["ready"] >= max(pool["target"], 1)


def finish(process):
    """Wait for a process of Node.start() and return what it printed; it must succeed."""
    name = pathlib.Path(process.args[0]).name
    try:
        output, _ = process.communicate(timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        raise SessionError(f"{name} did not end within {RUN_SECONDS} s:\n{output.decode()}") from None
    if process.returncode != 0:
        raise SessionError(f"{name} failed ({process.returncode}):\n{output.decode()}")
    return output.decode()


def wait_until(condition, seconds, complaint):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SessionError(complaint())
        time.sleep(POLL_SECONDS)
