# SPDX-License-Identifier: BSD-2-Clause
"""What the preload did, from its trace (struct wv_trace in src/wire/trace_record.h)."""

import errno
import struct
from dataclasses import dataclass

RECORD = struct.Struct("<IHHIIQQIHHIiHHHHII")
MAGIC = 0x43525457
LIST, OPEN, COMMAND, ROLLBACK, PURGE, COPIED = range(6)
KERNEL, ADOPTED, RECORDED, PREFORKED, SPARE, PAIR = range(6)
NO_WRITE_CMD = 0xffffffff
INIT, RTR, RTS = 1, 2, 3
SILENT = 7  # enum wv_no_lease
_WHY = ("", "pass", "no lease", "stopped", "unknown", "no such step", "other attributes", "other value", "other peer",
        "peer gone", "other moves")

# Objects and methods of rdma/ib_user_ioctl_cmds.h, legacy commands of rdma/ib_user_verbs.h.
_INVOKE_WRITE = (0, 0)
_CREATING = {
    (0, 3, NO_WRITE_CMD): "get_context",
    (16, 0, NO_WRITE_CMD): "async_event_alloc",
    (3, 0, NO_WRITE_CMD): "create_cq",
    (4, 0, NO_WRITE_CMD): "create_qp",
    (5, 0, NO_WRITE_CMD): "create_srq",
    _INVOKE_WRITE + (3,): "alloc_pd",
    _INVOKE_WRITE + (17,): "create_comp_channel",
}
_MODIFY_QP = (_INVOKE_WRITE + (26,), _INVOKE_WRITE + (0x80000000 | 26,))


@dataclass(frozen=True)
class Event:
    kind: int
    how: int
    pid: int
    command: tuple  # object, method, legacy command
    error: int
    qp_state: int
    no_lease: int
    seconds: float
    why: str  # it was not adopted; see src/cmdlog/difference.h

    def __str__(self):
        command = self.makes or "/".join(map(str, self.command))
        kind = ("list", "open", command, "rollback", "purge", "copied")[self.kind]
        how = ("kernel", "adopted", "recorded", "preforked", "spare", "pair")[self.how]
        return f"{kind}:{how}" + (f":{errno.errorcode.get(self.error, self.error)}" if self.error else "")

    @property
    def makes(self):
        """What the command makes, if it can be made ahead of time: the name of a create command, "init", or None."""
        if self.command in _MODIFY_QP and self.qp_state == INIT:
            return "init"
        return _CREATING.get(self.command)


def read(path):
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    events = []
    for fields in RECORD.iter_unpack(data[:len(data) - len(data) % RECORD.size]):
        magic, kind, how, pid, _, start, end, _, obj, method, cmd, error, state, none, why = fields[:15]
        assert magic == MAGIC, "a trace is one record after the other"
        events.append(Event(kind, how, pid, (obj, method, cmd), error, state, none,
                            (end - start) / 1e9, _WHY[why]))
    return events


def opens(events, how=None):
    return [e for e in events if e.kind == OPEN and not e.error and how in (None, e.how)]


def unanswered(events):
    """Whether the daemon did not answer the request of an open in time."""
    return any(e.no_lease == SILENT for e in opens(events, KERNEL))


def registrations(events, how):
    """How many memory regions were registered in this way."""
    return sum(e.kind == COMMAND and e.command == _INVOKE_WRITE + (9,) and e.how == how for e in events)


def made(events, how):
    """What was made in this way by commands that did not fail."""
    return [e.makes for e in events if e.kind == COMMAND and e.makes and e.how == how and not e.error]
