#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a program as server and as its own client, on the stand-in that this runs on.

    both_sides.py [--fails TEXT] PROGRAM [ARGUMENT...]

The port is added with -p, and the server's name for the client. Both must end with 0; with --fails the client must
fail and say TEXT.
"""
import argparse
import contextlib
import shutil
import signal
import subprocess
import sys
import time

from support.ports import free_port, is_listened_to

TIMEOUT = 100
SKIPPED = 77


def wait_for(condition, process, what):
    end = time.monotonic() + TIMEOUT
    while not condition():
        if process.poll() is not None:
            return False
        if time.monotonic() > end:
            sys.exit(f"{what} took more than {TIMEOUT} s")
        time.sleep(0.01)
    return True


class Side:
    """One of the two processes; killed at the latest when its test ends."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)

    def finish(self):
        try:
            output, _ = self.process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            output, _ = self.process.communicate()
            sys.exit(f"{self.name} did not end within {TIMEOUT} s:\n{output}")
        print(f"{self.name} ended with {self.process.returncode}:\n{output}", flush=True)
        return output

    def kill(self):
        self.process.kill()

    def close(self):
        self.kill()
        self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def both_sides(command):
    """Tries another port if another process takes the chosen one before the server does."""
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            port = free_port()
            server = Side("server", [*command, "-p", str(port)])
            stack.callback(server.close)
            if wait_for(lambda: is_listened_to(port), server.process, "listening"):
                break
            server.finish()
        else:
            sys.exit("the server ended before it listened")
        client = Side("client", [*command, "-p", str(port), "localhost"])
        stack.callback(client.close)
        yield server, client


def run_well(command):
    with both_sides(command) as (server, client):
        client.finish()
        server.finish()
        if client.process.returncode or server.process.returncode:
            sys.exit("a side failed")


def run_failing(command, text):
    with both_sides(command) as (_, client):
        output = client.finish()
        if client.process.returncode <= 0 or text not in output:
            sys.exit(f"the client did not fail with {text!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fails")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    # A test that is stopped stops its two sides as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    if not shutil.which(options.command[0]):
        print(f"{options.command[0]} is not installed")
        sys.exit(SKIPPED)
    if options.fails:
        run_failing(options.command, options.fails)
        return
    run_well(options.command)


if __name__ == "__main__":
    main()
