# SPDX-License-Identifier: BSD-2-Clause
"""The sandbox of the unit: what it denies is denied, by the sandbox itself and to the daemon, and the daemon does not
need it.

probe.py tries everything in three places: outside; in the sandbox, but as root with all capabilities that do not undo
it; and exactly as the daemon.
"""

import functools
import json
import os
import pathlib
import pwd
import re
import subprocess

import probe
from suite.report import Case, require, require_equal

from . import calls, units
from .places import HELPERS, UNIT
from .units import SERVICE, systemctl

REFUSALS = {"EPERM", "EACCES", "EROFS", "ENOENT", "ENXIO", "EAFNOSUPPORT", "SIGSYS"}
# Where probe.py is run: whether with the settings of the unit, and those that change there.
PLACES = {
    "outside": (False, []),
    "as root": (True, ["User=root", "AmbientCapabilities=", "CapabilityBoundingSet=~",
                       "CapabilityBoundingSet=~CAP_SYS_PTRACE"]),
    "as the daemon": (True, []),
    "with all address families": (True, ["RestrictAddressFamilies="]),
}
# Directives of the sandbox that a case below is about, rather than a row of probe.DENIED.
SHOWN_OTHERWISE = {"AmbientCapabilities", "CapabilityBoundingSet", "NoNewPrivileges", "PrivateMounts", "RemoveIPC",
                   "IPAddressDeny"}
FIRST = "CapabilityBoundingSet"  # in the unit: from here on it is about the sandbox
HIGHEST_EXPOSURE = 20  # 2.0
IPC_LOCK = f"{1 << 14:016x}"


def service_section():
    return re.search(r"^\[Service\]\n(.*?)^\[Install\]", UNIT.read_text(), re.DOTALL | re.MULTILINE)[1]


def directives():
    """Names in the part of the unit that makes up the sandbox."""
    names = re.findall(r"^(\w+)=", service_section(), re.MULTILINE)
    return set(names[names.index(FIRST):])


@functools.cache
def probed(place):
    """What probe.py found in a place."""
    in_sandbox, settings = PLACES[place]
    name = f"probe-{place.replace(' ', '-')}"
    out = pathlib.Path("/run", name)
    units.RUNTIME_UNITS.joinpath(name + ".service").write_text("\n".join([
        "[Service]", service_section() if in_sandbox else "", *settings, "Type=oneshot", "Restart=no", "WatchdogSec=0",
        "ExecStart=", f"ExecStart=/usr/bin/python3 {HELPERS}/probe.py", f"StandardOutput=truncate:{out}", ""]))
    marks = [pathlib.Path(folder, probe.MARK) for folder in ("/tmp", "/home")]
    for mark in marks:
        mark.write_text("")
    try:
        systemctl("daemon-reload")
        systemctl("start", name)
        return json.loads(out.read_text())
    finally:
        for mark in marks:
            mark.unlink()


def denies(directive):
    def run(_):
        wrong = []
        for what, expected in [(row[1], row[3]) for row in probe.DENIED if row[0] == directive]:
            found = {place: probed(place)[what] for place in ("outside", "as root", "as the daemon")}
            denied = found["as root"] in expected.split() and found["as the daemon"] in REFUSALS
            if found["outside"] in REFUSALS or not denied:
                wrong.append(f"{what}: {found}, as root it should be {expected}")
        require(not wrong, "; ".join(wrong))
    return run


def allows(_):
    found = probed("as the daemon")
    require_equal({what: found[what] for what, _ in probe.ALLOWED}, {what: "ok" for what, _ in probe.ALLOWED},
                  "what the daemon needs")


def capabilities(node):
    node.start_service()
    status = units.status_fields(units.main_pid())
    found = {name: status[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")}
    require_equal(found, {"CapPrm": IPC_LOCK, "CapEff": IPC_LOCK, "CapBnd": IPC_LOCK, "CapAmb": "0" * 16,
                          "NoNewPrivs": "1"}, "capabilities of the daemon")


def mounts(node):
    node.start_service()
    require(os.readlink(f"/proc/{units.main_pid()}/ns/mnt") != os.readlink("/proc/1/ns/mnt"),
            "the daemon has the mount namespace of process 1")


def remove_ipc(_):
    require_equal(probed("as the daemon")["shared memory, which RemoveIPC= removes"], "ok", "shared memory")
    owners = [line.split()[7] for line in pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    require(str(pwd.getpwnam("warmverbs").pw_uid) not in owners, "shared memory is left")


def packets(_):
    require_equal(probed("with all address families")["an IPv4 packet"], "EPERM", "what sending a packet ends with")


def complete(_):
    """For each directive there is a test."""
    tested = {row[0] for row in probe.DENIED} | SHOWN_OTHERWISE
    require_equal(directives() - tested, set(), "directives without a test")


def score(_):
    result = subprocess.run(["systemd-analyze", "security", "--no-pager", f"--threshold={HIGHEST_EXPOSURE}", SERVICE],
                            capture_output=True, text=True, check=False)
    exposure = result.stdout.strip().splitlines()[-1]
    print(f"     {exposure}", flush=True)
    require_equal(result.returncode, 0, f"exit status of systemd-analyze security: {exposure}")


def explained(_):
    """The unit says why, of each directive that it does not have."""
    out = subprocess.run(["systemd-analyze", "security", "--json=short", SERVICE], capture_output=True, text=True,
                         check=False).stdout
    missing = {row["name"] for row in json.loads(out) if not row["set"] and row["exposure"]}
    comments = " ".join(re.findall(r"^#(.*)", UNIT.read_text(), re.MULTILINE))
    words = {name: re.split(r"[=/]+~?", name.rstrip("=")) for name in missing}
    require_equal([name for name, parts in words.items() if not any(part in comments for part in parts if part)], [],
                  "directives that no comment is about")


def verified(_):
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", str(UNIT), str(UNIT.with_suffix(".socket"))],
                            capture_output=True, text=True, check=False)
    require_equal((result.returncode, result.stderr), (0, ""), "systemd-analyze verify")


def not_needed(node):
    """In all that it did in these tests, no call of the daemon was refused."""
    node.warm_service()
    names = {path.read_text().strip() for path in pathlib.Path(f"/proc/{units.main_pid()}/task").glob("*/comm")}
    require_equal(names, {calls.PROGRAM}, "names of the daemon's threads, by which its calls are found")
    require(calls.seen(), "the kernel traced no call of the daemon")
    require_equal(calls.refused(), [], "calls that were refused")
    require_equal([message for message in node.journal.messages("--priority=warning")], [], "warnings")


def cases():
    yield Case("sandbox", "systemd-analyze verify", verified)
    yield Case("sandbox", "systemd-analyze security: 2.0 or lower", score)
    yield Case("sandbox", "the unit says why a directive is missing", explained)
    yield Case("sandbox", "each directive has a test", complete)
    for directive in sorted({row[0] for row in probe.DENIED}):
        yield Case("sandbox", f"{directive}= denies", denies(directive))
    yield Case("sandbox", "CapabilityBoundingSet=, AmbientCapabilities=, NoNewPrivileges=", capabilities)
    yield Case("sandbox", "PrivateMounts=", mounts)
    yield Case("sandbox", "RemoveIPC=", remove_ipc)
    yield Case("sandbox", "IPAddressDeny=", packets)
    yield Case("sandbox", "what the daemon needs is allowed", allows)
    yield Case("sandbox", "the daemon needs nothing of what is denied", not_needed)
