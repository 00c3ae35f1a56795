# SPDX-License-Identifier: BSD-2-Clause
"""Services in Python: queue pairs under a name, and connections to them in one call. See warmverbs-service(3).

    with warmverbs_service.Offer("store", pd=pd, qp=qp, access=IBV_ACCESS_REMOTE_READ, mrs=[mr]) as offer:
        select.select([offer], [], [])
        for event in offer:
            ...

    with warmverbs_service.connect("store", node="node7", pd=pd, qp=qp) as connection:
        region = connection.regions[0]
        connection.qp.post_send(IBV_WR_RDMA_READ, [mr.sge()], region.addr, region.rkey)

PDs, CQs, SRQs, MRs and QPInitAttr are those of warmverbs_verbs, or of pyverbs, whose objects tell where they are since
rdma-core 61. No pyverbs takes a queue pair that it has not created; hence Connection.qp.

What warmverbs_verbs says of errors, ends, forks and threads goes for services, too. An offer is safe against its other
threads: that one takes its events, another disconnects a connection, and a third withdraws it.
"""

import collections
import ctypes
import errno
import functools
import os
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_uint8, c_uint32, c_uint64, c_void_p

from warmverbs_verbs import MRStructure, Object, QP, Structure, address, c_init_attr, load

# Of warmverbs-service.h.
CAME, LEFT = 1, 2

Event = collections.namedtuple("Event", "type connection")
Region = collections.namedtuple("Region", "addr length rkey")


class _Region(Structure):
    _fields_ = [("addr", c_uint64), ("length", c_uint64), ("rkey", c_uint32)]


class _Connection(Structure):
    _fields_ = [("qp", c_void_p), ("regions", ctypes.POINTER(_Region)), ("n_regions", c_uint),
                ("data", c_void_p), ("data_bytes", c_size_t), ("context", c_void_p)]


class _ServiceAttr(Structure):
    _fields_ = [("name", c_char_p), ("users", c_char_p), ("pd", c_void_p), ("qp", c_void_p), ("access", c_int),
                ("port_num", c_uint8), ("ready", c_uint), ("mrs", c_void_p), ("n_mrs", c_uint), ("data", c_char_p),
                ("data_bytes", c_size_t)]


class _ConnectAttr(Structure):
    _fields_ = [("node", c_char_p), ("user", c_char_p), ("name", c_char_p), ("pd", c_void_p), ("qp", c_void_p),
                ("access", c_int), ("port_num", c_uint8), ("timeout_ms", c_uint), ("ahead", c_uint)]


class _Event(Structure):
    _fields_ = [("type", c_int), ("connection", c_void_p)]


@functools.lru_cache(None)
def _services():
    return load("libwarmverbs-service.so.0", {
        "wv_service_offer": (c_int, c_void_p, c_size_t, c_void_p), "wv_service_withdraw": (None, c_void_p),
        "wv_service_fd": (c_int, c_void_p), "wv_service_next": (c_int, c_void_p, c_void_p),
        "wv_service_connect": (c_int, c_void_p, c_size_t, c_void_p), "wv_service_disconnect": (None, c_void_p),
        "wv_service_release": (None, c_void_p)})


_REMEDIES = {
    errno.EINVAL: "an argument is invalid (name: 1 to 31 bytes; data: 196 bytes; ready, ahead: 64; mrs: 4; qp: type RC "
                  "with two CQs), or node is no known host",
    errno.EEXIST: "this user has a service of that name on this node: withdraw that one, or choose another name",
    errno.ENOENT: "there is no such service, or not for this user: is it offered there, by this user or by that of "
                  "user=, who names this one in users=?",
    errno.EHOSTUNREACH: "the daemon of that node is no peer of this node's, or down: see warmverbs peers",
    errno.EADDRNOTAVAIL: "the port has no address of that kind, or none by which the other node knows this one: see "
                         "GIDs in ibv_devinfo -v, and warmverbs peers",
    errno.EPERM: "this user has no name, by which other nodes would know it: add one to the user database",
    errno.EBUSY: "the service does not keep up: raise its ready=, or try again",
    errno.ENOBUFS: "there are too many connections: disconnect some, or try again",
    errno.ETIMEDOUT: "the service or a daemon did not answer in time: try again, or raise timeout=",
    errno.ECONNRESET: "the service or a daemon ended, or the daemon is of another version or has no services: see "
                      "warmverbs doctor",
    errno.ECONNREFUSED: "there is no daemon: start warmverbsd, or set WARMVERBS_SOCKET to its socket",
    errno.EACCES: "the daemon's socket or the device is not for this user: see warmverbs doctor",
    errno.EOPNOTSUPP: "WARMVERBS_DISABLE is set: start the program without it",
}


def _check(error, what):
    if error:
        remedy = _REMEDIES.get(error, f"{os.strerror(error)}: see ERRORS in warmverbs-service(3)")
        raise OSError(error, f"{what}: {remedy}")


def _text(words):
    """For C, where a string ends with its first NUL."""
    coded = None if words is None else os.fsencode(words)
    if coded and b"\0" in coded:
        raise OSError(errno.EINVAL, f"{words!r} has a NUL")
    return coded


class Connection(Object):
    """qp, in RTS; and at a client's end what the service tells: regions (addr, length, rkey), and data."""

    def __init__(self, pointer, kept, came, lock=None):
        def end(pointer):
            came.pop(pointer, None)
            _services().wv_service_disconnect(pointer)

        super().__init__(pointer, end, *kept, lock=lock)
        known = _Connection.from_address(pointer)
        self.qp = QP(lambda: _Connection.from_address(self.pointer).qp)
        self.regions = [Region(each.addr, each.length, each.rkey) for each in known.regions[:known.n_regions]]
        self.data = ctypes.string_at(known.data, known.data_bytes) if known.data_bytes else b""

    disconnect = Object.close


class Offer(Object):
    """A service that is offered. Its descriptor is readable as long as there is an event."""

    def __init__(self, name, *, pd, qp, access=0, ready=1, mrs=(), data=b"", users=None, port=1):
        """users: names of other users who may connect, with commas between."""
        init, made = c_init_attr(qp), c_void_p()
        told = [MRStructure(addr=mr.buf, length=mr.length, rkey=mr.rkey) for mr in mrs]
        told = (ctypes.POINTER(MRStructure) * len(told))(*map(ctypes.pointer, told))
        attr = _ServiceAttr(name=_text(name), users=_text(users), pd=address(pd, "pd"), qp=ctypes.addressof(init),
                            access=access, port_num=port, ready=ready, mrs=ctypes.addressof(told),
                            n_mrs=len(told), data=data, data_bytes=len(data))
        _check(_services().wv_service_offer(ctypes.byref(attr), ctypes.sizeof(attr), ctypes.byref(made)),
               f"offer {name}")
        super().__init__(made.value, _services().wv_service_withdraw, pd, qp, *mrs)
        self._came = {}

    def fileno(self):
        return _services().wv_service_fd(self.pointer)

    def next(self):
        """The next event, (CAME or LEFT, connection), or None. Does not wait."""
        with self._lock:
            event = _Event()
            error = _services().wv_service_next(self.pointer, ctypes.byref(event))
            if error == errno.EAGAIN:
                return None
            _check(error, "next")
            if event.type == CAME:
                self._came[event.connection] = Connection(event.connection, self._kept, self._came, self._lock)
            return Event(event.type, self._came[event.connection])

    def __iter__(self):
        """The events that there are."""
        return iter(self.next, None)

    withdraw = Object.close


def connect(name, node=None, user=None, *, pd, qp, access=0, port=1, ahead=0, timeout=1.0):
    """A Connection to the service of that name: on a node (None: this one), of a user (None: this one).

    timeout: in seconds. ahead: so many more that a thread keeps connected for the next calls, until release(pd).
    """
    init, made = c_init_attr(qp), c_void_p()
    attr = _ConnectAttr(node=_text(node), user=_text(user), name=_text(name), pd=address(pd, "pd"),
                        qp=ctypes.addressof(init), access=access, port_num=port,
                        timeout_ms=max(1, round(timeout * 1000)), ahead=ahead)
    _check(_services().wv_service_connect(ctypes.byref(attr), ctypes.sizeof(attr), ctypes.byref(made)),
           f"connect to {name}{f' on {node}' if node else ''}")
    return Connection(made.value, (pd, qp), {})


def release(pd):
    """Ends what is kept ahead for a PD: before the PD, or a CQ or SRQ of such connections, is closed."""
    _services().wv_service_release(address(pd, "pd"))
