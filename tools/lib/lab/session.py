# SPDX-License-Identifier: BSD-2-Clause
"""The output of a guest: its reports, and the job's two outputs, which are passed on to ours."""

import os
import selectors
import signal
import time

from .report import EXIT_SIGNAL_BASE, Ended, GuestError, NotReady, TimedOut

# In the guest these are /dev/vport0p1 and so on, in this order.
PORTS = ("control", "stdout", "stderr")
STDOUT = 1
STDERR = 2
CHUNK = 1 << 16
# The job's exit status may overtake the end of its output, but not by much.
DRAIN_SECONDS = 60


class Stream:
    """One output of the job, passed on to ours up to the mark that ends it."""

    def __init__(self, descriptor, mark):
        self.descriptor = descriptor
        self.mark = mark
        self.held = b""
        self.complete = False

    def feed(self, data):
        if self.complete:
            return
        text, found, _ = (self.held + data).partition(self.mark)
        self.complete = bool(found)
        keep = 0 if found else self.possible_mark(text)
        self.held = text[len(text) - keep :]
        write_all(self.descriptor, text[: len(text) - keep])

    def possible_mark(self, text):
        """How many bytes at the end of the text could be the beginning of the mark."""
        longest = min(len(self.mark) - 1, len(text))
        return next((size for size in range(longest, 0, -1) if text.endswith(self.mark[:size])), 0)

    def flush(self):
        write_all(self.descriptor, self.held)
        self.held = b""


class Lines:
    """Calls handle(word, rest) for each line. A guest's reports are: ready, exit STATUS, fail REASON."""

    def __init__(self, handle):
        self.handle = handle
        self.partial = b""

    def feed(self, data):
        *lines, self.partial = (self.partial + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").partition(" ")
            self.handle(word, rest)


class Session:
    """Follows a running machine until its job is done."""

    def __init__(self, sockets, mark, boot_seconds, job_seconds):
        self.selector = selectors.DefaultSelector()
        self.streams = [Stream(STDOUT, mark), Stream(STDERR, mark)]
        for end, sink in zip(sockets, (Lines(self.handle), *self.streams)):
            self.watch(end, sink)
        self.job_seconds = job_seconds
        self.status = None
        self.allow(boot_seconds, NotReady(boot_seconds))

    def watch(self, end, sink, whose="the guest"):
        """Calls sink.feed() with what arrives there, until ignore()."""
        self.selector.register(end, selectors.EVENT_READ, (sink, whose))

    def ignore(self, end):
        self.selector.unregister(end)

    def allow(self, seconds, otherwise):
        """Set the deadline of the phase that begins, and the exception to raise when it passes."""
        self.deadline = time.monotonic() + seconds
        self.otherwise = otherwise

    def follow(self):
        while not self.is_done():
            left = self.deadline - time.monotonic()
            # Once more when it is late: this process may have stood still, and not the guest.
            for key, _ in self.selector.select(max(left, 0)):
                if key.fileobj in self.selector.get_map():  # What came before may have ended a machine.
                    self.receive(key.fileobj, *key.data)
            if left <= 0 and self.deadline <= time.monotonic() and not self.is_done():
                raise self.otherwise
        return self.status

    def is_done(self):
        return self.status is not None and all(stream.complete for stream in self.streams)

    def receive(self, end, sink, whose):
        data = receive_some(end)
        if not data:
            raise GuestError(f"{whose} died before the command had ended")
        sink.feed(data)

    def handle(self, report, detail):
        if report == "fail":
            raise GuestError(f"the guest could not set itself up: {detail}")
        if report == "ready":
            self.allow(self.job_seconds, TimedOut(self.job_seconds))
        if report == "exit":
            self.status = int(detail)
            self.allow(DRAIN_SECONDS, GuestError("the end of the command's output did not arrive"))

    def flush(self):
        for stream in self.streams:
            stream.flush()


def receive_some(end):
    try:
        return end.recv(CHUNK)
    except ConnectionResetError:
        return b""


def write_all(descriptor, data):
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except BrokenPipeError:
        raise Ended(EXIT_SIGNAL_BASE + signal.SIGPIPE, "nobody reads the output any more") from None
