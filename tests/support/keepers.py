# SPDX-License-Identifier: BSD-2-Clause
"""A fake daemon that wants pairs (src/wire/pair.h), and what servers that keep spares say to it."""

import dataclasses
import queue
import socket
import struct
import threading

from . import wire

(KEEPER, CONNECTED, EDGE, ASK, MADE, REFUSED, CLAIMED, USED, DROP, DROPPED, LOST, FORGOTTEN, STILL,
 LEAVE, STAYS) = range(1, 16)
NO_REASON, NO_SPARE, UNKNOWN, KERNEL, IDLE, ENDED, OTHER_PEER, ATTRIBUTES, MOVED = range(9)
NOTE = "HHIQQQ16s16sIIII32s"
OWN, PEERS = (struct.Struct(order + NOTE) for order in "<>")  # within a node, and between nodes
SILENCE_S = 0.3  # in which nothing comes


@dataclasses.dataclass
class Note:
    word: int
    why: int = 0
    by_request: int = 0
    keeper: int = 7
    pair: int = 0
    shape: int = 0
    gid: bytes = bytes(16)
    peer_gid: bytes = bytes(16)
    qp_num: int = 0
    peer_qp_num: int = 0
    psn: int = 0
    peer_psn: int = 0
    user: bytes = b""

    def body(self):
        """As a peer says it."""
        return PEERS.pack(*dataclasses.astuple(self))

    def packed(self):
        return wire.message(wire.PAIR, OWN.pack(*dataclasses.astuple(self)))


def of_peer(body):
    return Note(*PEERS.unpack(body))


def unpacked(data):
    return Note(*OWN.unpack_from(data, wire.HEADER.size))


class Keeper:
    """The connection of a server."""

    def __init__(self, sock):
        self.sock = sock
        self.connected = []  # what it has said of its connections
        self.stays = False  # whether it has said that its process outlives the connection
        self._notes = queue.SimpleQueue()

    def listen(self):
        """Until the server closes; None is its last word."""
        try:
            while data := self.sock.recv(4096):
                note = unpacked(data)
                if note.word == STAYS:
                    self.stays = True
                else:
                    (self.connected.append if note.word == CONNECTED else self._notes.put)(note)
        except OSError:
            pass
        self._notes.put(None)

    def say(self, word, **more):
        self.sock.send(Note(word, **more).packed())

    def hear(self, timeout=60):
        """The next note but CONNECTED; None: the server has closed."""
        return self._notes.get(timeout=timeout)

    def is_silent(self):
        try:
            return not self._notes.get(timeout=SILENCE_S)
        except queue.Empty:
            return True

    def close(self):
        self.sock.shutdown(socket.SHUT_RDWR)


class Daemon:
    """Has no leases, and wants pairs if @flags say so."""

    def __init__(self, folder, provider_list, flags=wire.PAIRS):
        self.socket = folder / "socket"
        self._flags = flags
        self._keepers = queue.SimpleQueue()
        self._socks = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(self.socket))
        self._listener.listen(64)
        (folder / "providers").write_text(provider_list)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._socks.append(sock)
            threading.Thread(target=self._talk, args=(sock,), daemon=True).start()

    def _talk(self, sock):
        try:
            data, fds = wire.receive(sock)
            wire.close_all(fds)
            if data and wire.kind_of(data) == wire.REQUEST:
                sock.send(wire.no_lease(wire.EMPTY, self._flags))
                wire.receive(sock)
            elif data and wire.kind_of(data) == wire.PAIR and unpacked(data).word == KEEPER:
                keeper = Keeper(sock)
                self._keepers.put(keeper)
                keeper.listen()
        except OSError:
            pass

    def keeper(self, timeout=60):
        """The next server that comes."""
        return self._keepers.get(timeout=timeout)

    def has_keeper(self):
        """Whether a server comes soon."""
        try:
            self._keepers.put(self._keepers.get(timeout=SILENCE_S))
        except queue.Empty:
            return False
        return True

    def stop(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._socks:
            sock.close()
