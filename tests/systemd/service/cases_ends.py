# SPDX-License-Identifier: BSD-2-Clause
"""The daemon ends, hangs, fails or is replaced. Programs that hold leases are not disturbed, others run plainly."""

import os
import pathlib
import shutil
import signal
import subprocess

from suite import resources
from suite.report import Case, require, require_equal
from support import trace

from . import units
from .node import CONFIG, LISTENING, LIMIT_S, PROVIDERS, RUN_DIR, check_adopted, check_plain
from .places import DAEMON, HELPERS
from .units import SERVICE, SOCKET, show, systemctl

WATCHDOG_S = 10
ERROR, WARNING = "err", "warning"


def with_leases_out(node, change, traffic):
    """Changes something while programs hold leases. They finish, and later ones are warm again."""
    waiting = node.connected()
    before = units.main_pid()
    socket = LISTENING.stat().st_ino
    with node.connecting():
        change(node)
        units.await_other_daemon(before)
    require_equal(LISTENING.stat().st_ino, socket, "inode of the socket")
    finish(waiting, *traffic)
    node.check_warm(node.objects)


def finish(waiting, *stopped):
    """Programs of Node.connected() and Node.stopped_traffic() go on. They check the data that they receive."""
    waiting.proceed()
    for running in stopped:
        running.process.send_signal(signal.SIGCONT)
    for running in (waiting, *stopped):
        check_adopted(running.wait(LIMIT_S))


def restart(_):
    systemctl("restart", SERVICE)


def upgrade(_):
    """As a package manager does: a new file takes the place of the old one."""
    new = DAEMON.with_suffix(".new")
    shutil.copy2(DAEMON, new)
    new.rename(DAEMON)
    require(os.readlink(f"/proc/{units.main_pid()}/exe").endswith(" (deleted)"), "the daemon's file is not replaced")
    systemctl("restart", SERVICE)
    require_equal(os.readlink(f"/proc/{units.main_pid()}/exe"), str(DAEMON), "program of the new daemon")


def kill(node):
    systemctl("kill", "--signal=KILL", SERVICE)
    node.journal.await_message("Failed with result 'signal'")


def run_out_of_memory(node):
    """The kernel cannot make room, and kills."""
    pathlib.Path("/sys/fs/cgroup" + show("ControlGroup"), "memory.max").write_text("0")
    node.journal.await_message("Failed with result 'oom-kill'")


def changed(change):
    def run(node):
        node.warm_service()
        with_leases_out(node, change, [])
    return run


def restarted_during_traffic(node):
    node.warm_service()
    node.check_warm(node.pingpong)
    with_leases_out(node, restart, node.stopped_traffic())


def hung(node):
    """The daemon is stopped: the watchdog ends it. Meanwhile programs wait for a moment only."""
    units.drop_in(f"WatchdogSec={WATCHDOG_S}")
    node.warm_service()
    waiting = node.connected()
    pid = units.main_pid()
    os.kill(pid, signal.SIGSTOP)
    [result] = node.objects()
    check_plain([result])
    waited = sum(event.seconds for event in trace.opens(result.events))
    require(waited < WATCHDOG_S, f"the program waited {waited:.1f} s for the daemon")
    units.await_other_daemon(pid)
    node.journal.await_message("Failed with result 'watchdog'")
    finish(waiting)
    node.check_warm(node.objects)


def other_version(node):
    """After an upgrade, before the restart, one side is older. Here the daemon speaks another version."""
    node.warm_service()
    waiting = node.connected()
    units.drop_in("ExecStart=", f"ExecStart=/usr/bin/python3 {HELPERS}/other_version.py", "WatchdogSec=0")
    systemctl("restart", SERVICE)

    def answered():
        check_plain(node.objects())
        return "answered in another version" in node.journal.messages()
    require(resources.until(answered, units.PATIENCE_S), "the other daemon answers nobody in time")
    units.remove_drop_in()
    systemctl("restart", SERVICE)
    finish(waiting)
    node.check_warm(node.objects)


def reload(node):
    """There is nothing to reload: systemctl says so, and the daemon goes on."""
    node.start_service()
    pid = units.main_pid()
    result = subprocess.run(["systemctl", "reload", SERVICE], capture_output=True, text=True, check=False)
    require(result.returncode and "not applicable" in result.stderr, f"systemctl reload: {result}")
    require_equal([units.main_pid(), show("ActiveState")], [pid, "active"], "the daemon after systemctl reload")


def stop(node):
    """A clean end, with leases pooled and handed out."""
    node.warm_service()
    node.check_warm(node.pingpong)
    waiting = node.connected()
    traffic = node.stopped_traffic()
    pid = units.main_pid()
    systemctl("stop", SERVICE)
    require_equal([show("Result"), show("ExecMainStatus")], ["success", "0"], "result of the service")
    require(not pathlib.Path(f"/proc/{pid}").exists(), "the daemon still runs")
    require(LISTENING.exists() and PROVIDERS.exists(), "the socket is gone with the service")
    systemctl("stop", SOCKET)
    require_equal(list(RUN_DIR.iterdir()), [], "what is left in /run/warmverbs")
    check_plain(node.objects())
    finish(waiting, *traffic)
    require_equal([message for message in node.journal.messages() if "timed out" in message], [], "timeouts")


def socket_restarted(node):
    """systemctl restart of the socket restarts the service too, which programs find again."""
    node.warm_service()
    waiting = node.connected()
    pid = units.main_pid()
    systemctl("restart", SOCKET)
    units.await_other_daemon(pid)
    finish(waiting)
    node.check_warm(node.objects)


def given_up(node, message, priority, *settings):
    """The daemon cannot start: it is given up after some attempts. Then programs run plainly, and do not wait."""
    units.drop_in(*settings, "[Unit]", "StartLimitIntervalSec=1h")  # a slow machine makes fewer attempts in 10 s
    subprocess.run(["systemctl", "restart", SERVICE], capture_output=True, check=False)
    # Programs that connect meanwhile make systemd start the service again.
    require(resources.until(lambda: [node.objects(), show("ActiveState", SOCKET)][1] == "failed", units.PATIENCE_S),
            "the socket is not given up")
    units.await_state("failed")
    check_plain(node.objects())
    node.journal.await_message(message, f"--priority={priority}")


def brought_back(node):
    units.remove_drop_in()
    systemctl("reset-failed", SOCKET, SERVICE)
    node.warm_service()


def misconfigured(node):
    node.warm_service()
    waiting = node.connected()
    CONFIG.parent.mkdir(exist_ok=True)
    CONFIG.write_text("no-such-option = 1\n")
    given_up(node, f"{CONFIG}:1: no-such-option is not an option", ERROR)
    CONFIG.unlink()
    finish(waiting)
    brought_back(node)


def too_little_memory(node):
    node.warm_service()
    given_up(node, "Failed with result 'oom-kill'", WARNING, "MemoryMax=256K")
    brought_back(node)


def stays_away(node):
    """A program that has no daemon because it was stopped does not start it."""
    node.warm_service()
    systemctl("stop", SOCKET)
    check_plain(node.objects())
    require_equal([show("ActiveState"), show("ActiveState", SOCKET)], ["inactive"] * 2, "service and socket")


def cases():
    for name, run in [
        ("the daemon is restarted, leases are out and in use", restarted_during_traffic),
        ("the daemon is upgraded, leases are out", changed(upgrade)),
        ("the daemon is killed, leases are out", changed(kill)),
        ("the daemon is killed for want of memory, leases are out", changed(run_out_of_memory)),
        ("the daemon hangs", hung),
        ("the daemon is of another version", other_version),
        ("the socket is restarted", socket_restarted),
        ("systemctl reload", reload),
        ("systemctl stop, leases are out", stop),
        ("a program does not start what was stopped", stays_away),
        ("the configuration is wrong", misconfigured),
        ("MemoryMax= is too small", too_little_memory),
    ]:
        yield Case("end", name, run)
