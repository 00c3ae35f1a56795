# SPDX-License-Identifier: BSD-2-Clause
"""The service starts, serves its users, and has what the unit gives it."""

import contextlib
import grp
import json
import os
import pathlib
import pwd
import shutil
import stat
import subprocess
import tempfile

from suite import places, resources
from suite.lab import accepting
from suite.report import Case, require, require_equal
from support.authority import Authority

from . import units
from .node import CONFIG, LIMIT_S, LISTENING, PROVIDERS, RUN_DIR, STATE_DIR, check_plain
from .places import DAEMON
from .units import SERVICE, SOCKET, show, systemctl

OTHER_USER = 65534
MEMORY_MAX = 4 << 30
METRICS = pathlib.Path("/var/lib/prometheus/node-exporter/warmverbs.prom")
WARNING, NOTICE, INFO = "4", "5", "6"


def owner_and_mode(path):
    st = path.stat()
    return f"{pwd.getpwuid(st.st_uid).pw_name}:{grp.getgrgid(st.st_gid).gr_name} {stat.S_IMODE(st.st_mode):o}"


def accounts(_):
    user = pwd.getpwnam("warmverbs")
    require("warmverbs" in grp.getgrnam("rdma").gr_mem, "warmverbs is no member of rdma")
    require_equal(user.pw_shell, "/usr/sbin/nologin", "shell of warmverbs")


def activated(node):
    """The socket alone starts nothing. Whoever asks starts the service; a program asks once there is a list."""
    node.start_unit(SOCKET)
    check_plain(node.objects())
    require_equal(show("ActiveState"), "inactive", "service, after a program without a list of providers")
    node.status()
    require_equal([show("ActiveState"), show("Type")], ["active", "notify"], "service, after warmverbs status")
    require("listening on /run/warmverbs/socket" in show("StatusText"), f"status text: {show('StatusText')}")
    systemctl("stop", SERVICE)
    node.objects()
    units.await_state("active")
    node.check_warm(node.objects)


def owners(node):
    node.start_service()
    require_equal({str(path): owner_and_mode(path) for path in (RUN_DIR, PROVIDERS, STATE_DIR)},
                  {"/run/warmverbs": "warmverbs:rdma 755", "/run/warmverbs/providers": "warmverbs:rdma 644",
                   "/var/lib/warmverbs": "warmverbs:rdma 700"}, "owners and modes")
    # Process 1 made it. When the folder becomes the daemon's, so does all that is in it.
    require(owner_and_mode(LISTENING) in ("root:rdma 660", "warmverbs:rdma 660"),
            f"the socket is {owner_and_mode(LISTENING)}")
    status = units.status_fields(units.main_pid())
    require_equal([status["Uid"].split()[1], status["Gid"].split()[1]],
                  [str(pwd.getpwnam("warmverbs").pw_uid), str(grp.getgrnam("rdma").gr_gid)], "user and group")


def enabled(node):
    """Enabled, the service starts at boot; disabled, it does not."""
    systemctl("enable", SERVICE)
    wanted = show("Wants", "multi-user.target").split() + show("Wants", "sockets.target").split()
    require(SERVICE in wanted and SOCKET in wanted, f"the targets want {wanted}")
    node.start_unit("multi-user.target")
    units.await_state("active")
    systemctl("disable", SERVICE)
    require_equal([path.name for path in pathlib.Path("/etc/systemd/system").rglob("warmverbs*")], [],
                  "links that are left")
    require(units.is_active(), "the service ended when it was disabled")


def hits(node):
    return sum(recipe["counters"]["hits"] for recipe in node.status()["recipes"])


def warm_pingpong(node):
    node.start_service()
    before = hits(node)
    node.check_warm(node.pingpong)
    require(hits(node) >= before + 2, "the status does not show the hits")


def rping(node):
    """A run of rping, and the results of both sides."""
    command = ["rping", "-V", "-C", "20", "-a", places.address()]
    server = node.start([*command, "-s"])
    require(resources.until(lambda: accepting(server), LIMIT_S), "the server does not listen")
    client = node.start([*command, "-c"])
    return [running.wait(LIMIT_S) for running in (server, client)]


def warm_rping(node):
    node.start_service()
    node.check_warm(lambda: rping(node))


def members(node):
    """Members of the group rdma may connect, others may not."""
    node.start_service()
    as_user = ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}"]
    member = [*as_user, f"--groups={grp.getgrnam('rdma').gr_gid}"]
    node.check_warm(lambda: node.objects(prefix=member))
    check_plain(node.objects(prefix=[*as_user, "--clear-groups"]))


def journal(node):
    """Messages have their priority."""
    CONFIG.parent.mkdir(exist_ok=True)
    CONFIG.write_text("log-level = info\n")
    bad = STATE_DIR / "0" / "00000000000000aa.json"
    node.warm_service()
    bad.write_text("no recipe\n")
    os.chown(bad, *STATE_DIR.stat()[4:6])
    systemctl("restart", SERVICE)
    expected = {"listening on /run/warmverbs/socket": NOTICE, bad.name: WARNING, "rxe0": INFO}
    found = {text: node.journal.await_message(text, f"--priority={level}..{level}", f"--identifier={IDENTIFIER}")
             for text, level in expected.items()}
    require_equal({entry["_SYSTEMD_UNIT"] for entry in found.values()}, {SERVICE}, "units of the messages")
    require_equal(node.journal.messages("--priority=err"), [], "errors")
    require(STATE_DIR.joinpath("0", bad.name + ".bad").exists(), "the file is not set aside")


IDENTIFIER = "warmverbsd"


def limits(node):
    """The daemon has the limits of the unit, and needs no more."""
    node.start_service()
    pid = units.main_pid()
    lines = pathlib.Path(f"/proc/{pid}/limits").read_text().splitlines()
    limit = {line[:26].strip(): line[26:].split()[:2] for line in lines}
    require_equal(limit["Max open files"], [show("LimitNOFILE")] * 2, "LimitNOFILE=")
    require_equal(limit["Max locked memory"], ["unlimited"] * 2, "LimitMEMLOCK=")
    cgroup = pathlib.Path("/sys/fs/cgroup" + show("ControlGroup"))
    expected = {"memory.max": str(MEMORY_MAX), "memory.swap.max": "0", "pids.max": "128"}
    require_equal({name: cgroup.joinpath(name).read_text().strip() for name in expected}, expected,
                  "limits of the cgroup")
    budgets = node.status()["budgets"]
    require(budgets["descriptors"] >= 2 * budgets["leases"], f"too few descriptors for all leases: {budgets}")
    require(budgets["memory"] < MEMORY_MAX // 2, f"no memory is left beside leases: {budgets}")


def metrics(node):
    """A timer writes metrics where node_exporter reads them; if the daemon does not answer, there are none."""
    node.warm_service()
    METRICS.parent.mkdir(parents=True)
    try:
        node.start_unit("warmverbs-metrics.timer")
        require(resources.until(METRICS.exists, LIMIT_S, 0.2), f"no metrics: {show('Result', 'warmverbs-metrics')}")
        require("\nwarmverbs_hits_total " in METRICS.read_text(), f"sums are missing: {METRICS.read_text()}")
        require_equal(owner_and_mode(METRICS), "root:root 644", "owner and mode")
        # The service, too: the timer may have just started it, with figures of the daemon.
        systemctl("stop", "warmverbs-metrics.timer", "warmverbs-metrics.service", SOCKET, SERVICE)
        subprocess.run(["systemctl", "start", "warmverbs-metrics.service"], capture_output=True, check=False)
        require_equal(list(METRICS.parent.iterdir()), [], "what is left of the metrics")
    finally:
        systemctl("stop", "warmverbs-metrics.timer")
        shutil.rmtree(METRICS.parent)


def less_memory(node):
    """With less memory, the daemon hands out fewer leases."""
    units.drop_in("MemoryMax=64M")
    node.warm_service()
    require_equal(node.status()["budgets"]["memory_out"], 32 << 20, "memory for leases that programs have")


def states_of_peers():
    words = ["warmverbs", "peers", "--json"]
    document = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return [peer["state"] for peer in document["peers"]]


@contextlib.contextmanager
def daemon_at(address, ca, *options):
    """A daemon that is no service, leases nothing and is a node of the cluster, for as long as the block lasts."""
    certificate, key = ca.give(f"node-{address}", f"IP:{address}")
    with tempfile.TemporaryDirectory() as folder:
        words = [DAEMON, "--socket", f"{folder}/socket", "--state-dir", folder, "--devices", "none", "--peer-listen",
                 address, "--peer-ca", ca.certificate, "--peer-certificate", certificate, "--peer-key", key, *options]
        process = subprocess.Popen(words)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def peers(node):
    """With the drop-in of docs/operations.md, the daemon reaches its peers, and systemd gives it the files."""
    CONFIG.parent.mkdir(exist_ok=True)
    ca = Authority(CONFIG.parent, "peer-ca")
    certificate, key = ca.give("peer-certificate", "IP:127.0.0.1")
    CONFIG.write_text("peers = 127.0.0.2\npeer-listen = 127.0.0.1\n")
    units.drop_in("RestrictAddressFamilies=AF_INET AF_INET6", "IPAddressAllow=127.0.0.0/8",
                  f"LoadCredential=peer-ca.pem:{ca.certificate}", f"LoadCredential=peer-certificate.pem:{certificate}",
                  f"LoadCredential=peer-key.pem:{key}")
    for file in (ca.certificate, certificate, key):
        file.chmod(0o600)
    node.start_service()
    with daemon_at("127.0.0.2", ca, "--peers", "127.0.0.1"):
        require(resources.until(lambda: states_of_peers() == ["up"], LIMIT_S, 0.2),
                f"peers: {states_of_peers()}, {node.journal.messages()}")


def cases():
    for name, run in [
        ("the account and the group exist", accounts),
        ("the first client starts the service", activated),
        ("owners and modes", owners),
        ("enabled, it starts with multi-user.target", enabled),
        ("the second ibv_rc_pingpong is warm", warm_pingpong),
        ("the second rping is warm", warm_rping),
        ("members of rdma are served, others are not", members),
        ("messages are in the journal, with their priorities", journal),
        ("limits", limits),
        ("a lower MemoryMax=", less_memory),
        ("metrics for node_exporter", metrics),
        ("peers, with the drop-in of the documentation", peers),
    ]:
        yield Case("start", name, run)


