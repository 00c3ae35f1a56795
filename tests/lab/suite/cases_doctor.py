# SPDX-License-Identifier: BSD-2-Clause
"""What the command line says of a node with a real device."""

import json
import re

from . import places
from .cases_faults import with_leases
from .report import Case, require, require_equal

TOPIC = "doctor"


def cli(lab, *words, user=False):
    """Runs warmverbs, with this build's library and the daemon of the case."""
    env = {"WARMVERBS_SOCKET": str(lab.socket), "WARMVERBS_LIBRARY": str(lab.build.preload)}
    return lab.run([str(lab.build.command_line), *words], env=env, user=user)


def well(lab):
    with_leases(lab)
    result = cli(lab, "doctor", "--json")
    report = json.loads(result.out)
    require_equal([f for f in report["findings"] if f["mark"] != "ok"], [], "what is not well")
    require_equal((result.status, report["well"]), (0, True), "exit status, and whether all is well")
    device, = [f["found"] for f in report["findings"] if f["check"] == "device"]
    require_equal(device, f"{places.DEVICE}: rxe, {places.node()} opens", "what is said of the device")
    require("1 active, with an address" in result.out, "the port was not seen")


def node_closed(lab):
    """To another user, the node is the one thing that is wrong."""
    node = places.node()
    mode = node.stat().st_mode & 0o777
    lab.start_daemon(["--group", places.OTHER_GROUP])
    node.chmod(0o600)
    try:
        result = cli(lab, "doctor", "--json", user=True)
    finally:
        node.chmod(mode)
    fails = [f for f in json.loads(result.out)["findings"] if f["mark"] == "fail"]
    require_equal([f["check"] for f in fails], ["device"], "what fails")
    require("may not open" in fails[0]["found"], f"what is found: {fails}")
    require_equal(result.status, 1, "exit status")


def summary(lab):
    with_leases(lab)
    result = cli(lab, "run", "--summary", "--", lab.build.program("objects"))
    require_equal(result.status, 0, "exit status")
    expected = r"^warmverbs: [1-9]\d* of \d+ commands were done ahead \(leases: 1 of 1 opens\)"
    require(re.search(expected, result.err, re.M), f"the summary is: {result.err}")


def cases():
    return [
        Case(TOPIC, "all is well", well),
        Case(TOPIC, "the node is closed to a user", node_closed),
        Case(TOPIC, "run --summary", summary),
    ]
