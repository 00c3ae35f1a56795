# SPDX-License-Identifier: BSD-2-Clause
"""As much of verbs as programs in Python need beside warmverbs_service, by ctypes.

What is here is of the program's own: pyverbs takes none of it. Errors are OSError, with errno. An object ends with its
block (`with`), or by close(); one that is not closed stays until the process ends. A child after fork() has no part in
what its parent has made: there, close() does nothing. Other threads run while a call waits. Any thread may call, but
nothing may be closed while another thread uses it.
"""

import collections
import ctypes
import errno
import functools
import mmap
import os
import threading
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

# Of infiniband/verbs.h. Those of pyverbs are the same numbers.
IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_ATOMIC = 1, 2, 4, 8
IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_READ = range(5)
IBV_SEND_FENCE, IBV_SEND_SIGNALED, IBV_SEND_SOLICITED, IBV_SEND_INLINE = 1, 2, 4, 8
IBV_QPT_RC = 2
IBV_WC_SUCCESS = 0

QPInitAttr = collections.namedtuple(
    "QPInitAttr",
    "send_cq recv_cq srq max_send_wr max_recv_wr max_send_sge max_recv_sge max_inline_data qp_type sq_sig_all",
    defaults=(None, 16, 16, 1, 1, 0, IBV_QPT_RC, 0))
QPInitAttr.__doc__ = "Of queue pairs, as ibv_create_qp(3) has it; the names are those of pyverbs."


class Structure(ctypes.Structure):
    def __init__(self, **members):
        """ctypes would take what fits of a number that is too large."""
        super().__init__(**members)
        for name, value in members.items():
            if isinstance(value, int) and value != (getattr(self, name) or 0):
                raise OSError(errno.EINVAL, f"{name}: {value} is out of range")


class _QPInitAttr(Structure):
    _fields_ = [("qp_context", c_void_p), ("send_cq", c_void_p), ("recv_cq", c_void_p), ("srq", c_void_p),
                ("max_send_wr", c_uint32), ("max_recv_wr", c_uint32), ("max_send_sge", c_uint32),
                ("max_recv_sge", c_uint32), ("max_inline_data", c_uint32), ("qp_type", c_int), ("sq_sig_all", c_int)]


class _Context(Structure):
    _fields_ = [("device", c_void_p), ("ops", c_void_p * 32)]


class MRStructure(Structure):
    _fields_ = [("context", c_void_p), ("pd", c_void_p), ("addr", c_void_p), ("length", c_size_t),
                ("handle", c_uint32), ("lkey", c_uint32), ("rkey", c_uint32)]


class _QP(Structure):
    _fields_ = [("context", c_void_p), ("qp_context", c_void_p), ("pd", c_void_p), ("send_cq", c_void_p),
                ("recv_cq", c_void_p), ("srq", c_void_p), ("handle", c_uint32), ("qp_num", c_uint32)]


class _SGE(Structure):
    _fields_ = [("addr", c_uint64), ("length", c_uint32), ("lkey", c_uint32)]


class _RecvWR(Structure):
    _fields_ = [("wr_id", c_uint64), ("next", c_void_p), ("sg_list", c_void_p), ("num_sge", c_int)]


class _SendWR(Structure):
    _fields_ = [*_RecvWR._fields_, ("opcode", c_int), ("send_flags", c_uint), ("imm_data", c_uint32.__ctype_be__),
                ("remote_addr", c_uint64), ("rkey", c_uint32), ("rest", c_uint64 * 9)]


class WC(Structure):
    """A completion, as ibv_poll_cq(3) has it."""
    _fields_ = [("wr_id", c_uint64), ("status", c_int), ("opcode", c_int), ("vendor_err", c_uint32),
                ("byte_len", c_uint32), ("imm_data", c_uint32.__ctype_be__), ("qp_num", c_uint32),
                ("src_qp", c_uint32), ("wc_flags", c_uint), ("pkey_index", c_uint16), ("slid", c_uint16),
                ("sl", c_uint8), ("dlid_path_bits", c_uint8)]


def load(name, functions):
    try:
        library = ctypes.CDLL(name, use_errno=True)
    except OSError as why:
        raise OSError(errno.ELIBACC, f"{why}: install the package with {name}, or set LD_LIBRARY_PATH") from None
    for function, (result, *arguments) in functions.items():
        getattr(library, function).restype, getattr(library, function).argtypes = result, arguments
    return library


@functools.lru_cache(None)
def _verbs():
    return load("libibverbs.so.1", {
        "ibv_get_device_list": (ctypes.POINTER(c_void_p), c_void_p), "ibv_free_device_list": (None, c_void_p),
        "ibv_get_device_name": (c_char_p, c_void_p),
        "ibv_open_device": (c_void_p, c_void_p), "ibv_close_device": (c_int, c_void_p),
        "ibv_alloc_pd": (c_void_p, c_void_p), "ibv_dealloc_pd": (c_int, c_void_p),
        "ibv_create_cq": (c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_int), "ibv_destroy_cq": (c_int, c_void_p),
        "ibv_reg_mr": (ctypes.POINTER(MRStructure), c_void_p, c_void_p, c_size_t, c_int),
        "ibv_dereg_mr": (c_int, c_void_p)})


# Inline functions of verbs.h: their places in ibv_context.ops. What they belong to begins with its ibv_context.
_POLL_CQ, _POST_SEND, _POST_RECV = 11, 25, 26
_Polls = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)
_Posts = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)


def _operation(pointer, place):
    return _Context.from_address(c_void_p.from_address(pointer).value).ops[place]


_open = set()  # memory that adapters may write to, and what others need, must not go with the last reference


class Object:
    """Something of C, until close(). end: what ends it, which returns None or an error."""
    member = None  # of pyverbs' objects of this kind, that tells where they are

    def __init__(self, pointer, end, *kept, lock=None):
        self._pointer, self._end, self._kept, self._pid = pointer, end, kept, os.getpid()
        self._lock = lock or threading.Lock()
        _open.add(self)

    @property
    def pointer(self):
        """Where it is, for calls of C."""
        if self._pointer is None:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._pointer

    def close(self):
        if os.getpid() != self._pid:
            return
        with self._lock:
            error = self._end(self._pointer) if self._pointer is not None else 0
            if error:
                raise OSError(error, f"{type(self).__name__}: {os.strerror(error)}: close what was made of it before")
            self._pointer = None
            _open.discard(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def address(thing, member):
    """Where the structure of C is that @thing stands for. member: see Object."""
    if isinstance(thing, int) and thing:
        return thing
    if isinstance(thing, Object) and thing.member == member:
        return thing.pointer
    if any(kind.__module__.startswith("pyverbs.") for kind in type(thing).__mro__):
        import pyverbs.qp  # pylint: disable=import-outside-toplevel
        if not hasattr(pyverbs.qp.QP, "qp"):  # before that, to read PD.pd changes what it points to
            raise TypeError(f"pyverbs before rdma-core 61 does not tell where its {type(thing).__name__} is: make it "
                            "with warmverbs_verbs")
        if isinstance(getattr(thing, member, None), int):
            return getattr(thing, member)
    raise TypeError(f"{thing!r} is no {member} of warmverbs_verbs or pyverbs, nor an address")


def _made(pointer, what, remedy):
    if not pointer:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}: {remedy}")
    return pointer


class Context(Object):
    """A device that is opened: the first one, or that of a name."""
    member = "context"

    def __init__(self, name=None):
        verbs, i = _verbs(), 0
        devices = _made(verbs.ibv_get_device_list(None), "ibv_get_device_list", "see ibv_devices(1)")
        try:
            while devices[i] and name not in (None, verbs.ibv_get_device_name(devices[i]).decode()):
                i += 1
            if not devices[i]:
                raise OSError(errno.ENODEV, f"there is no RDMA device{f' {name}' if name else ''}: see ibv_devices(1)")
            pointer = _made(verbs.ibv_open_device(devices[i]), "ibv_open_device",
                            "may this user open /dev/infiniband/uverbs*?")
        finally:
            verbs.ibv_free_device_list(devices)
        super().__init__(pointer, verbs.ibv_close_device)


class PD(Object):
    """A protection domain."""
    member = "pd"

    def __init__(self, context):
        pointer = _made(_verbs().ibv_alloc_pd(address(context, "context")), "ibv_alloc_pd", "does the device work?")
        super().__init__(pointer, _verbs().ibv_dealloc_pd, context)


class CQ(Object):
    """A completion queue, to poll."""
    member = "cq"

    def __init__(self, context, cqe):
        made = _verbs().ibv_create_cq(address(context, "context"), cqe, None, None, 0)
        super().__init__(_made(made, "ibv_create_cq", "so many entries (max_cqe of ibv_devinfo -v)?"),
                         _verbs().ibv_destroy_cq, context)

    def poll(self, most=16):
        """A list of completions (WC), at most so many. Does not wait."""
        found = (WC * most)()
        n = _Polls(_operation(self.pointer, _POLL_CQ))(self.pointer, most, ctypes.byref(found))
        if n < 0:
            raise OSError(-n, f"ibv_poll_cq: {os.strerror(-n)}: the device is gone, or the CQ broken")
        return found[:n]


class MR(Object):
    """Registered memory: so many bytes of its own, or a writable buffer (bytearray, mmap, numpy.ndarray...).

    memory: a buffer of it. buf, length, lkey, rkey: as in pyverbs.
    """

    def __init__(self, pd, memory, access):
        self.memory = mmap.mmap(-1, memory) if isinstance(memory, int) else memory
        self.length = memoryview(self.memory).nbytes
        self._view = (ctypes.c_char * self.length).from_buffer(self.memory)
        self.buf = ctypes.addressof(self._view)
        made = _verbs().ibv_reg_mr(address(pd, "pd"), self.buf, self.length, access)
        made = _made(made, "ibv_reg_mr", "with ENOMEM, raise the limit of locked memory (ulimit -l)")
        self.lkey, self.rkey = made.contents.lkey, made.contents.rkey
        super().__init__(ctypes.addressof(made.contents), _verbs().ibv_dereg_mr, pd)

    def sge(self, offset=0, length=None):
        """A part of it, for post_send() and post_recv()."""
        length = self.length - offset if length is None else length
        if offset < 0 or length < 0 or offset + length > self.length:
            raise ValueError(f"{length} bytes at {offset} are not within the {self.length} of this MR")
        return self.buf + offset, length, self.lkey


class QP:
    """A queue pair that others create and destroy; find: a function that returns where it is, while it is."""

    def __init__(self, find):
        self._find = find

    @property
    def pointer(self):
        """Where it is, for calls of C."""
        return self._find()

    @property
    def qp_num(self):
        return _QP.from_address(self.pointer).qp_num

    def post_send(self, opcode, sges=(), remote_addr=0, rkey=0, wr_id=0, send_flags=IBV_SEND_SIGNALED, imm_data=0):
        """sges: of memory here, (address, length, lkey) each, as MR.sge() returns them. imm_data: a number, as WC has
        it; to programs in C it is in network byte order."""
        self._post(_POST_SEND, _SendWR, sges, wr_id=wr_id, opcode=opcode, send_flags=send_flags, imm_data=imm_data,
                   remote_addr=remote_addr, rkey=rkey)

    def post_recv(self, sges=(), wr_id=0):
        self._post(_POST_RECV, _RecvWR, sges, wr_id=wr_id)

    def _post(self, place, kind, sges, **members):
        parts = [_SGE(addr=addr, length=length, lkey=lkey) for addr, length, lkey in sges]
        parts = (_SGE * len(parts))(*parts)
        request = kind(sg_list=ctypes.addressof(parts), num_sge=len(parts), **members)
        error = _Posts(_operation(self.pointer, place))(self.pointer, ctypes.byref(request), ctypes.byref(c_void_p()))
        if error:
            raise OSError(error, f"ibv_post_{'send' if place == _POST_SEND else 'recv'}: {os.strerror(error)}: with "
                                 "ENOMEM the queue is full, wait for completions")


def c_init_attr(qp):
    """@qp: a QPInitAttr of this module or of pyverbs."""
    members = {name: getattr(qp, name) for name in QPInitAttr._fields}
    for name, member in ("send_cq", "cq"), ("recv_cq", "cq"), ("srq", "srq"):
        if members[name] is not None:
            members[name] = address(members[name], member)
    return _QPInitAttr(**members)
