# SPDX-License-Identifier: BSD-2-Clause
"""Descriptors that are closed, copied and used again, and processes that are forked."""

import errno
import os
import pathlib
import sys

from support import trace

from .lab import same
from .report import Case, require, require_equal

DESCRIPTORS = [
    ("closed, the number used again", "close"),
    ("replaced by dup2()", "dup2"),
    ("replaced by dup3()", "dup3"),
    ("closed, replaced by fcntl(F_DUPFD)", "fcntl"),
    ("closed, replaced by fcntl(F_DUPFD_CLOEXEC)", "fcntl-cloexec"),
    ("closed by close_range()", "close-range"),
    ("closed by closefrom()", "closefrom"),
    ("used by a dup()", "copy-dup"),
    ("used by a fcntl(F_DUPFD_CLOEXEC)", "copy-fcntl"),
    ("used by a dup2()", "copy-dup2"),
    ("moved away and back", "there-and-back"),
    ("calls that fail", "failing-calls"),
    ("close_range(CLOEXEC)", "only-cloexec"),
    ("all closed by close() before the open", "all-close"),
    ("all closed by close_range() before the open", "all-close-range"),
    ("all closed by closefrom() before the open", "all-closefrom"),
    ("all closed, their numbers used for files", "all-files"),
]

FORKS = [
    ("the child opens the device itself", "own"),
    ("the child closes everything", "child-closes-all"),
    ("the child destroys a queue pair", "child-destroys"),
    ("vfork() and exec()", "vfork"),
    ("posix_spawn() and system()", "spawn"),
    ("fork() while threads adopt", "storm"),
    ("vfork() while a thread adopts", "storm-of-vforks"),
]

# What a child does, what it prints without warmverbs, and what it can do with it.
INHERITS = [
    ("the child uses what it inherits", "inherit", "inherited memory: EACCES",
     "inherited memory", "own memory", "channel", "own objects"),
    ("the child outlives its parent", "orphan", "after the parent: EACCES",
     "after the parent", "own objects"),
    ("the child crashes while it posts", "child-crashes", ""),
]

# A Python program that opens a device and starts others, for which subprocess closes all descriptors.
SUBPROCESS = """
import ctypes, subprocess
verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
for name in ("ibv_get_device_list", "ibv_open_device", "ibv_alloc_pd"):
    getattr(verbs, name).restype = ctypes.c_void_p
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
context = ctypes.c_void_p(verbs.ibv_open_device(ctypes.c_void_p(verbs.ibv_get_device_list(None)[0])))
pd = ctypes.c_void_p(verbs.ibv_alloc_pd(context))
for close_fds in (True, False):
    print(subprocess.run(["echo", "child"], close_fds=close_fds, capture_output=True, text=True).stdout)
print(verbs.ibv_dealloc_pd(pd), verbs.ibv_close_device(context))
"""


def adopted(program, variable, value):
    """The program does the same without warmverbs, recorded, and with a lease."""
    def test(lab):
        words = [lab.build.program(program)]
        env = {variable: value} if variable else None
        plain = lab.run(words, env=env)
        require_equal(plain.status, 0, f"exit status of {program} without warmverbs")
        lab.start_daemon()
        first = lab.record(words)
        require_equal(first.status, 0, f"exit status of {program} while it is recorded")
        [warm] = lab.run_leased(lambda: [lab.run(words, warm=True, env=env)])
        same(plain, warm, "exact")
        return warm
    return test


def with_lease(test):
    def run(lab):
        require(trace.opens(test(lab).events, trace.ADOPTED), "there was no lease")
    return run


def without_lease(test):
    """For programs that close the socket to the daemon before it answers."""
    def run(lab):
        test(lab)
    return run


def inherits(how, cannot, *can):
    """What a child can't do plainly, it can if warmverbs opened the device, with or without a lease."""
    def test(lab):
        words, env = [lab.build.program("forks")], {"FORKS": how}
        can_all = (0, "".join(f"{what}: 0\n" for what in can) + "ok\n")
        require(cannot in lab.run(words, env=env).out, "a child can ring another's doorbell")
        require_equal(lab.run(words, warm=True, env=env).exact(), can_all, "without a daemon")
        lab.start_daemon()
        require_equal(lab.record(words, env).exact(), can_all, "while it is recorded")
        [warm] = lab.run_leased(lambda: [lab.run(words, warm=True, env=env)])
        require(trace.opens(warm.events, trace.ADOPTED), "there was no lease")
        require_equal(warm.exact(), can_all, "with a lease")
    return test


HUGE_PAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")
UNNEEDED = 2  # IBV_FORK_UNNEEDED: this kernel copies registered pages for the child
REFUSED = os.strerror(errno.EACCES)
CHILDS, PARENTS = "the child's", "the parent's"


def memory(lab):
    """Does the adapter read the child's memory or its parent's? Without warmverbs no child can post to ask this."""
    words = [lab.build.program("forks")]

    def check(private, env):
        result = lab.run(words, warm=True, env={"FORKS": "memory", **env})
        require_equal(result.exact(), (0, f"fork: {UNNEEDED}\nprivate: {private}\nshared: {CHILDS}\n"
                                          f"private huge: {PARENTS}\nshared huge: {CHILDS}\nok\n"), f"with {env}")
        return len([e for e in result.events if e.kind == trace.COPIED])
    before = HUGE_PAGES.read_text()
    HUGE_PAGES.write_text("8")
    try:
        require_equal(check(PARENTS, {}), 2, "copies in the trace")
        require_equal(check(CHILDS, {"WARMVERBS_SHARE_MR": "1"}), 1, "copies in the trace, with small ones shared")
        for name in ("IBV_FORK_SAFE", "RDMAV_FORK_SAFE"):
            env = {"FORKS": "memory", name: "1", "RDMAV_HUGEPAGES_SAFE": "1"}
            plain = lab.run(words, env=env)
            require_equal(plain.exact(), (1, f"fork: {UNNEEDED}\n"), "a child that cannot send")
            if REFUSED in plain.err:  # by the doorbell: the memory is not kept from it
                check(PARENTS, env)
            else:
                same(plain, lab.run(words, warm=True, env=env), "exact")
    finally:
        HUGE_PAGES.write_text(before)


def other_user(lab):
    """A process that gives up its user with the device open may post as before, with or without a lease; plainly, the
    kernel refuses its doorbell."""
    words = [lab.build.program("words"), *"open pd cq qp:rc move:init setuid move:rtr,rts traffic:rounds=2".split()]

    def check(when):
        result = lab.run(words, warm=True)
        require_equal(result.status, 0, f"exit status {when}")
        require("failed" not in result.out, f"{when}: {result.out}")
        return result
    require("traffic:rounds=2 failed: EACCES" in lab.run(words).out, "plainly, a process with another user cannot post")
    check("without a daemon")
    lab.start_daemon()
    check("while it is recorded")
    [leased] = lab.run_leased(lambda: [check("with a lease")])
    require(trace.opens(leased.events, trace.ADOPTED), "there was no lease")


def python_subprocess(lab):
    words = [sys.executable, "-c", SUBPROCESS]
    plain = lab.run(words)
    require_equal(plain.status, 0, "exit status without warmverbs")
    lab.start_daemon()
    for _ in range(2):
        same(plain, lab.run(words, warm=True), "exact")
        lab.daemon.settle()


def cases():
    for name, value in DESCRIPTORS:
        wrap = without_lease if value.startswith("all-") else with_lease
        yield Case("descriptor", name, wrap(adopted("descriptors", "DESCRIPTORS", value)))
    for name, how, cannot, *can in INHERITS:
        yield Case("fork", name, inherits(how, cannot, *can))
    yield Case("fork", "whose memory the adapter reads", memory)
    for name, value in FORKS:
        yield Case("fork", name, with_lease(adopted("forks", "FORKS", value)))
    yield Case("fork", "Python's subprocess", python_subprocess)
    yield Case("rights", "setuid() while the device is open", other_user)
    yield Case("errno", "is kept by calls that succeed", with_lease(adopted("errno", None, None)))
