# SPDX-License-Identifier: BSD-2-Clause
"""Users of the tests: the daemon's account, a hostile user, a victim. Root plays them in forked children."""

import ctypes
import grp
import os
import pathlib
import pickle
import signal
import traceback
import warnings

DAEMON, ATTACKER, VICTIM = 2001, 2002, 2003
SUBORDINATES = range(200001, 200021)  # lent to the hostile user
GROUP = "users"  # whose members may connect

_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
libc = ctypes.CDLL(None, use_errno=True)


def why_not():
    """Why this process cannot play users; None if it can."""
    if os.geteuid():
        return "needs root, to be several users"
    if GROUP not in (group.gr_name for group in grp.getgrall()):
        return f"there is no group {GROUP}"
    if not os.path.exists("/etc/subuid"):
        return "there is no /etc/subuid, which another one could take the place of"
    return None


def gid():
    return grp.getgrnam(GROUP).gr_gid


def become(uid):
    """This process, from now on, is user @uid, and ends with its parent."""
    os.setgroups([])
    os.setresgid(gid(), gid(), gid())
    os.setresuid(uid, uid, uid)
    die_with_parent()
    libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # else its /proc belongs to root


def become_subordinate(uid):
    """This process is a subordinate user @uid of the hostile user, as with newuidmap(1), and ends with its parent."""
    pid = os.getpid()
    wait, go = os.pipe()

    def map_uid():
        os.read(wait, 1)
        pathlib.Path(f"/proc/{pid}/uid_map").write_text(f"0 {uid} 1")

    helper = fork(map_uid)
    become(ATTACKER)
    system_call(libc.unshare(_CLONE_NEWUSER))
    os.write(go, b"x")
    os.waitpid(helper, 0)
    os.setresuid(0, 0, 0)
    die_with_parent()


def hide(path, by):
    """For this process and its children, the file @path is the file @by."""
    system_call(libc.unshare(_CLONE_NEWNS))
    system_call(libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None))
    system_call(libc.mount(os.fsencode(by), os.fsencode(path), None, _MS_BIND, None))


def die_with_parent():
    """To call after every change of user, which the kernel lets undo it."""
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def system_call(result):
    """The result of a function of libc; raises OSError if it failed."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def fork(play):
    """A child that calls play() and ends; its pid. It leaves nothing of the parent's to clean up."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    warnings.simplefilter("ignore", ResourceWarning)  # the process will end
    try:
        play()
        status = 0
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
    finally:
        os._exit(status)


def run_as(uid, function, *args):
    """What function(*args) returns when user @uid calls it, or that subordinate user."""
    ours, its = os.pipe()

    def play():
        (become_subordinate if uid in SUBORDINATES else become)(uid)
        with open(its, "wb") as pipe:
            pickle.dump(function(*args), pipe)

    pid = fork(play)
    os.close(its)
    with open(ours, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    if not answer:
        raise AssertionError(f"user {uid} failed, see above")
    return pickle.loads(answer)
