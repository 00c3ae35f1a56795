# SPDX-License-Identifier: BSD-2-Clause
"""Tries what a sandbox should deny, each in a process of its own, and prints as JSON how each attempt ended: "ok", the
name of an error, or that of a signal."""

import ctypes
import errno
import json
import os
import pathlib
import signal
import socket
import stat
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
# System calls of x86_64 that libc has no function for, or not always.
CALLS = {"ptrace": 101, "syslog": 103, "setuid": 105, "personality": 135, "sched_setscheduler": 144, "chroot": 161,
         "mount": 165, "swapon": 167, "reboot": 169, "sethostname": 170, "iopl": 172, "delete_module": 176,
         "clock_settime": 227, "kexec_load": 246, "unshare": 272, "perf_event_open": 298, "clock_adjtime": 305,
         "add_key": 248, "bpf": 321, "io_uring_setup": 425, "x32_getpid": 0x40000000 | 39}
SPACES = {"mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000,
          "pid": 0x20000000, "net": 0x40000000}
ADDR_NO_RANDOMIZE = 0x40000
MARK = "warmverbs-probe"  # a file that the test makes in /tmp and /home
IPC_PRIVATE = 0
READ, WRITE, EXECUTE = 1, 2, 4
PRIVATE_ANONYMOUS = 0x22
PAGE = 4096


def call(name, *arguments):
    if LIBC.syscall(CALLS[name], *arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def calls(name, *arguments):
    return lambda: call(name, *arguments)


def mapped(protection):
    LIBC.mmap.restype = ctypes.c_void_p
    address = LIBC.mmap(None, PAGE, protection, PRIVATE_ANONYMOUS, -1, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    return address


def made_executable():
    if LIBC.mprotect(ctypes.c_void_p(mapped(READ | WRITE)), PAGE, READ | EXECUTE):
        raise OSError(ctypes.get_errno(), "mprotect")


def opens(path, flags=os.O_RDONLY):
    return lambda: os.close(os.open(path, flags))


def makes_file(folder):
    path = pathlib.Path(folder, MARK + ".new")
    path.write_text("")
    path.unlink()


def makes_folder(folder):
    def make():
        path = pathlib.Path(folder, MARK)
        path.mkdir()
        path.rmdir()
    return make


def makes(folder):
    return lambda: makes_file(folder)


def makes_setuid_file():
    path = pathlib.Path("/tmp", MARK + ".setuid")
    path.write_text("")
    try:
        path.chmod(0o4755)
    finally:
        path.unlink()


def makes_file_for_all():
    path = pathlib.Path("/tmp", MARK + ".mode")
    path.write_text("")
    mode = stat.S_IMODE(path.stat().st_mode)
    path.unlink()
    if not mode & 0o077:
        raise PermissionError(errno.EPERM, "umask")


def opens_socket(family):
    return lambda: socket.socket(family, socket.SOCK_DGRAM).close()


def sends_packet():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", ("127.0.0.1", 9))


def makes_shared_memory():
    if LIBC.shmget(IPC_PRIVATE, PAGE, 0o1600) < 0:
        raise OSError(ctypes.get_errno(), "shmget")


# Directive, what is tried, how, and how it may end in the sandbox for whoever has all capabilities but CAP_SYS_PTRACE.
DENIED = [
    ("RestrictAddressFamilies", "an IPv4 socket", opens_socket(socket.AF_INET), "EAFNOSUPPORT"),
    ("RestrictAddressFamilies", "an IPv6 socket", opens_socket(socket.AF_INET6), "EAFNOSUPPORT"),
    ("RestrictAddressFamilies", "a packet socket", opens_socket(socket.AF_PACKET), "EAFNOSUPPORT"),
    ("RestrictAddressFamilies", "an IPv4 packet", sends_packet, "EAFNOSUPPORT"),
    ("DeviceAllow", "the connection manager", opens("/dev/infiniband/rdma_cm", os.O_RDWR), "EPERM"),
    ("DevicePolicy", "the serial console", opens("/dev/ttyS0", os.O_RDWR | os.O_NOCTTY), "EPERM"),
    ("DevicePolicy", "the memory", opens("/dev/mem"), "EPERM"),
    ("LockPersonality", "another personality", calls("personality", ADDR_NO_RANDOMIZE), "EPERM"),
    # EPERM is of the filter of system calls, EACCES of PR_SET_MDWE, which newer versions use.
    ("MemoryDenyWriteExecute", "memory to write and execute", lambda: mapped(READ | WRITE | EXECUTE), "EPERM EACCES"),
    ("MemoryDenyWriteExecute", "written memory made executable", made_executable, "EPERM EACCES"),
    ("PrivateTmp", "others' temporary files", opens(f"/tmp/{MARK}"), "ENOENT"),
    ("ProcSubset", "facts of the node in /proc", opens("/proc/meminfo"), "ENOENT"),
    ("ProtectProc", "another process", opens("/proc/1/status"), "ENOENT"),
    ("ProtectClock", "the clock set", calls("clock_settime", 0, None), "SIGSYS"),
    ("ProtectClock", "the clock adjusted", calls("clock_adjtime", 0, None), "SIGSYS"),
    ("ProtectControlGroups", "a change of cgroups", opens("/sys/fs/cgroup/cgroup.max.depth", os.O_WRONLY), "EROFS"),
    ("ProtectHome", "home folders", opens(f"/home/{MARK}"), "ENOENT"),
    ("ProtectHostname", "the host name", calls("sethostname", b"lab", 3), "SIGSYS"),
    ("ProtectKernelLogs", "the kernel's log", calls("syslog", 10, None, 0), "SIGSYS"),
    ("ProtectKernelLogs", "the kernel's log as a device", opens("/dev/kmsg"), "ENXIO"),
    ("ProtectKernelModules", "a module unloaded", calls("delete_module", None, 0), "SIGSYS"),
    # Version 257 leaves the rest of /sys writable to root.
    ("ProtectKernelTunables", "a folder of BPF", makes_folder("/sys/fs/bpf"), "EROFS"),
    *(("ProtectSystem", f"a file in {folder}", makes(folder), "EROFS")
      for folder in ("/etc", "/usr/local/lib", "/var/lib")),
    ("ReadOnlyPaths", "a file in /run", makes("/run"), "EROFS"),
    *(("RestrictNamespaces", f"a new {name} namespace", calls("unshare", flag), "EPERM")
      for name, flag in SPACES.items()),
    ("RestrictRealtime", "real-time scheduling",
     calls("sched_setscheduler", 0, 1, ctypes.byref(ctypes.c_int(1))), "SIGSYS"),
    ("RestrictSUIDSGID", "a setuid file", makes_setuid_file, "EPERM"),
    ("SystemCallArchitectures", "a call of another ABI", calls("x32_getpid"), "SIGSYS"),
    *(("SystemCallFilter", name, calls(name, *arguments), "SIGSYS") for name, arguments in {
        "mount": (None, None, None, 0, None), "ptrace": (0, 0, None, None), "swapon": (None, 0),
        "reboot": (0, 0, 0, None), "iopl": (0,), "kexec_load": (0, 0, None, -1), "bpf": (0, None, 0),
        "perf_event_open": (None, 0, -1, -1, 0), "chroot": (b"/",), "setuid": (0,), "io_uring_setup": (0, None),
        "add_key": (None, None, None, 0, 0),
    }.items()),
    ("UMask", "a file that others can read", makes_file_for_all, "EPERM"),
]
# What the daemon needs, so it must be there.
ALLOWED = [
    ("a local socket", opens_socket(socket.AF_UNIX)),
    ("a netlink socket of RDMA", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20).close()),
    ("the devices", opens("/dev/infiniband/uverbs0", os.O_RDWR)),
    ("a file in /run/warmverbs", makes("/run/warmverbs")),
    ("a file in /var/lib/warmverbs", makes("/var/lib/warmverbs")),
    ("its own /proc", opens("/proc/self/status")),
    ("types of the kernel", opens("/sys/kernel/btf/vmlinux")),
    ("shared memory, which RemoveIPC= removes", makes_shared_memory),
]


def attempt(function):
    """In the child: its exit status tells the error."""
    try:
        function()
    except OSError as error:
        os._exit(error.errno)
    except BaseException:  # pylint: disable=broad-except
        os._exit(255)
    os._exit(0)


def outcome(function):
    child = os.fork()
    if not child:
        attempt(function)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return signal.Signals(-status).name
    return errno.errorcode.get(status, "?") if status else "ok"


def main():
    results = {what: outcome(function) for _, what, function, _ in DENIED}
    results.update((what, outcome(function)) for what, function in ALLOWED)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
