#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads a server's memory through librpma, which has no programs of its own in Debian.

    rpma_read.py ADDRESS PORT server|client
"""

import ctypes
import sys

LOCAL, REMOTE = 0, 1  # enum rpma_util_ibv_context_type
READ_SRC, READ_DST = 1, 2  # RPMA_MR_USAGE_*
ESTABLISHED, CLOSED = 0, 1  # enum rpma_conn_event
COMPLETION_ALWAYS = 3
WC_BYTES = 64  # room for a struct ibv_wc
TEXT = b"persistent memory"

rpma = ctypes.CDLL("librpma.so.0")
rpma.rpma_err_2str.restype = ctypes.c_char_p


class PrivateData(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("bytes", ctypes.c_uint8)]


def call(name, *args):
    error = getattr(rpma, f"rpma_{name}")(*args)
    if error:
        sys.exit(f"rpma_{name}: {rpma.rpma_err_2str(error).decode()}")


def new(name, *args):
    """What the function returns through its last argument."""
    made = ctypes.c_void_p()
    call(name, *args, ctypes.byref(made))
    return made


def await_event(connection, expected):
    event = ctypes.c_int()
    call("conn_next_event", connection, ctypes.byref(event))
    if event.value != expected:
        sys.exit(f"event {event.value} instead of {expected}")


def connect(request, data=None):
    connection = ctypes.c_void_p()
    call("conn_req_connect", ctypes.byref(request), data, ctypes.byref(connection))
    await_event(connection, ESTABLISHED)
    return connection


def end(connection, region, peer):
    call("conn_delete", ctypes.byref(connection))
    call("mr_dereg", ctypes.byref(region))
    call("peer_delete", ctypes.byref(peer))


def serve(address, port, peer):
    memory = ctypes.create_string_buffer(TEXT, 4096)
    region = new("mr_reg", peer, memory, ctypes.c_size_t(4096), READ_SRC)
    size = ctypes.c_size_t()
    call("mr_get_descriptor_size", region, ctypes.byref(size))
    descriptor = ctypes.create_string_buffer(size.value)
    call("mr_get_descriptor", region, descriptor)
    data = PrivateData(ctypes.addressof(descriptor), size.value)
    endpoint = new("ep_listen", peer, address, port)
    connection = connect(new("ep_next_conn_req", endpoint, None), ctypes.byref(data))
    await_event(connection, CLOSED)
    call("conn_disconnect", connection)
    call("ep_shutdown", ctypes.byref(endpoint))
    end(connection, region, peer)


def read(address, port, peer):
    memory = ctypes.create_string_buffer(4096)
    region = new("mr_reg", peer, memory, ctypes.c_size_t(4096), READ_DST)
    connection = connect(new("conn_req_new", peer, address, port, None))
    data = PrivateData()
    call("conn_get_private_data", connection, ctypes.byref(data))
    remote = new("mr_remote_from_descriptor", ctypes.c_void_p(data.at), ctypes.c_size_t(data.bytes))
    zero = ctypes.c_size_t(0)
    call("read", connection, region, zero, remote, zero, ctypes.c_size_t(len(TEXT)), COMPLETION_ALWAYS, None)
    queue = new("conn_get_cq", connection)
    call("cq_wait", queue)
    call("cq_get_wc", queue, 1, ctypes.create_string_buffer(WC_BYTES), None)
    print(memory.value.decode())
    call("mr_remote_delete", ctypes.byref(remote))
    call("conn_disconnect", connection)
    await_event(connection, CLOSED)
    end(connection, region, peer)


def main():
    address, port, role = sys.argv[1:]
    is_server = role == "server"
    peer = new("peer_new", new("utils_get_ibv_context", address.encode(), LOCAL if is_server else REMOTE))
    (serve if is_server else read)(address.encode(), port.encode(), peer)


main()
