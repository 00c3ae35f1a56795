# SPDX-License-Identifier: BSD-2-Clause
"""Takes the place of a daemon of another version: answers whoever connects to the socket that systemd passes."""

import os
import socket

from support import wire

LISTEN_FDS_START = 3


def say_ready():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"].replace("@", "\0", 1))


def answer(client):
    data, fds = wire.receive(client)
    wire.close_all(fds)
    if data:
        wire.send(client, wire.no_lease(version=wire.VERSION + 1))
        print("answered in another version", flush=True)


def main():
    listener = socket.socket(fileno=LISTEN_FDS_START)
    listener.setblocking(True)
    say_ready()
    while True:
        client, _ = listener.accept()
        with client:
            try:
                answer(client)
            except OSError:  # The program has not waited for so long.
                pass


if __name__ == "__main__":
    main()
