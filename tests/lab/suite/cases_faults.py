# SPDX-License-Identifier: BSD-2-Clause
"""Daemons and programs die or hang; devices and permissions go away."""

import subprocess
import time

from support import trace
from support.cases import attempts

from . import places, resources
from .lab import listening, same
from .report import Case, Failure, require, require_equal

TOPIC = "fault"
STAGES = ["listed", "opened", "created", "init", "connected"]
WAIT_S = 0.05  # WV_WAIT_MS: how long a program waits for the daemon in total
SLACK_S = 0.04  # until an emulated machine schedules the program again
REMOVAL_S = 2
CROWD = 50


def objects(lab, options="", more=None, **how):
    return lab.run([lab.build.program("objects")], env={"OBJECTS": options, **(more or {})}, **how)


def start_at(lab, stage, more=None, **how):
    """The program, waiting at that stage."""
    env = {"OBJECTS": f"-p {stage}", **(more or {})}
    running = lab.start([lab.build.program("objects")], env=env, **how)
    running.await_text(f"at {stage}")
    return running


def proceed(running):
    running.proceed()
    return running.wait()


def check_right(result):
    require_equal(result.status, 0, "exit status of the program")
    require(result.out.endswith("2 queue pairs, ok\n"), "the program did not do its work")


def check_plain(result):
    check_right(result)
    require(not trace.opens(result.events, trace.ADOPTED), "there was a lease")


def check_gets_lease(lab, **how):
    """At once; if the daemon was too late, as on a busy machine, when there is another one."""
    [result] = lab.run_answered(lambda: [objects(lab, warm=True, **how)], lab.daemon.await_leases)
    check_right(result)
    require(trace.opens(result.events, trace.ADOPTED), "there was no lease")


def check_serves(lab):
    """The daemon runs, and a program gets a lease."""
    require(lab.daemon.running, "the daemon ended")
    lab.daemon.await_leases()
    check_gets_lease(lab)


def with_leases(lab, options=(), prefix=()):
    """Starts a daemon, records the program and waits for leases."""
    lab.start_daemon(options, prefix)
    for _ in attempts():
        result = objects(lab, warm=True)
        check_right(result)
        if not trace.unanswered(result.events):
            break
    lab.daemon.await_leases()


def socket_absent(lab):
    check_plain(objects(lab, warm=True))


def socket_refuses(lab):
    with_leases(lab)
    lab.daemon.kill()
    check_plain(objects(lab, "-o 3", warm=True))


def socket_gone(lab):
    with_leases(lab)
    lab.daemon.kill()
    lab.socket.unlink()
    check_plain(objects(lab, "-o 3", warm=True))


def hung(lab):
    with_leases(lab)
    lab.daemon.pause()
    result = objects(lab, "-o 3", warm=True)
    check_plain(result)
    require(trace.unanswered(result.events), "the trace does not say that the daemon gave no answer")
    waited = sum(e.seconds for e in trace.opens(result.events))
    require(waited <= WAIT_S + SLACK_S, f"the program waited {waited * 1000:.0f} ms for the daemon")
    lab.daemon.resume()
    check_serves(lab)


def daemon_killed_at(stage):
    def run(lab):
        with_leases(lab)
        running = start_at(lab, stage, warm=True)
        lab.daemon.kill()
        check_right(proceed(running))
        lab.start_daemon()
        check_serves(lab)
    return run


def daemon_killed_while_recorded(stage):
    def run(lab):
        lab.start_daemon()
        running = start_at(lab, stage, warm=True)
        lab.daemon.kill()
        check_plain(proceed(running))
        with_leases(lab)
    return run


def daemon_restarted_at(stage):
    def run(lab):
        with_leases(lab)
        running = start_at(lab, stage, warm=True)
        lab.daemon.stop()
        lab.start_daemon()
        check_serves(lab)
        check_right(proceed(running))
    return run


def program_killed_at(stage):
    def run(lab):
        with_leases(lab)
        start_at(lab, stage, warm=True).kill()
        lab.daemon.check_ufiles(lab.base)
        # A lease that is given up at once may be unfit, so the daemon may ask for a new recording.
        check_right(objects(lab, warm=True))
        check_serves(lab)
    return run


def program_killed_while_recorded(stage):
    def run(lab):
        lab.start_daemon()
        start_at(lab, stage, warm=True).kill()
        check_right(objects(lab, warm=True))
        check_serves(lab)
    return run


def pingpong(lab, iterations):
    command = ["ibv_rc_pingpong", "-d", places.DEVICE, "-g", "1", "-n", str(iterations)]
    server = lab.start(command, warm=True, name="server")
    require(resources.until(lambda: listening(18515)(server), 20), "the server does not listen")
    return server, lab.start([*command, places.address()], warm=True, name="client")


def leased_pingpong(lab):
    lab.start_daemon()
    for running in pingpong(lab, 100):
        require_equal(running.wait().status, 0, "exit status while it is recorded")
    for _ in attempts():
        lab.daemon.await_leases()
        running = pingpong(lab, 6000)
        require(resources.until(lambda client=running[1]: is_sending(client), 20, 0.005), "the client does not connect")
        if not any(trace.unanswered(trace.read(program.trace_path)) for program in running):
            require(all(program.process.poll() is None for program in running), "the traffic is over too soon")
            return running
        for program in running:
            program.kill()
    raise Failure("the daemon answered too late each time")


def is_sending(running):
    return any(event.qp_state == trace.RTS for event in trace.read(running.trace_path))


def daemon_killed_during_traffic(lab):
    running = leased_pingpong(lab)
    lab.daemon.kill()
    for program in running:
        result = program.wait()
        require_equal(result.status, 0, "exit status")
        require(trace.opens(result.events, trace.ADOPTED), "there was no lease")


def programs_killed_during_traffic(lab):
    running = leased_pingpong(lab)
    for program in running:
        program.kill()
    lab.daemon.check_ufiles(lab.base)


def other_arguments(lab):
    with_leases(lab)
    check_right(lab.run([lab.build.program("objects"), "another", "argument"], warm=True))
    check_right(lab.run([lab.build.program("objects"), "another", "argument"], warm=True))
    check_gets_lease(lab)


def other_user(lab):
    with_leases(lab, ["--group", places.OTHER_GROUP])
    check_plain(objects(lab, warm=True, user=True))
    lab.daemon.settle()
    resources.until(lambda: trace.opens(objects(lab, warm=True, user=True).events, trace.ADOPTED), 5)
    check_gets_lease(lab, user=True)
    check_serves(lab)


def socket_denied(lab):
    """A user who may not connect to the daemon gets plain verbs."""
    with_leases(lab, ["--group", "root"])
    check_plain(objects(lab, warm=True, user=True))


def node_denied(lab):
    """A user who may no longer open the device gets no lease of it."""
    node = places.node()
    with_leases(lab, ["--group", places.OTHER_GROUP])
    check_right(objects(lab, warm=True, user=True))
    lab.daemon.settle()
    mode = node.stat().st_mode
    node.chmod(0o600)
    try:
        plain = objects(lab, user=True)
        require(plain.status != 0, "the node is closed to others, but they use it")
        warm = objects(lab, warm=True, user=True)
        same(plain, warm, "exact")
        require_equal(warm.err, plain.err, "what the program says")
        check_gets_lease(lab)
    finally:
        node.chmod(mode)


def node_missing(lab):
    node = places.node()
    hidden = node.with_name("hidden")
    with_leases(lab)
    node.rename(hidden)  # Renamed, not removed: the kernel would not remove a node made by mknod.
    try:
        plain = objects(lab)
        warm = objects(lab, warm=True)
        same(plain, warm, "exact")
        require_equal(warm.err, plain.err, "what the program says")
    finally:
        hidden.rename(node)
    check_serves(lab)


def device_removed(lab):
    netdev = places.netdev()
    with_leases(lab)
    start = time.monotonic()
    try:
        removal = subprocess.Popen(["rdma", "link", "delete", places.DEVICE])
        try:
            require_equal(removal.wait(20), 0, "exit status of the removal")
        except subprocess.TimeoutExpired:
            lab.daemon.kill()
            removal.wait(20)  # else not only the daemon has it open
            raise Failure("leases hold up the removal of the device") from None
        seconds = time.monotonic() - start
        require(seconds <= REMOVAL_S, f"the removal of the device took {seconds:.1f} s")
        require(lab.daemon.running, "the daemon ended with the device")
        require_equal(objects(lab, warm=True).status, 1, "exit status without a device")
    finally:
        subprocess.run(["rdma", "link", "add", places.DEVICE, "type", "rxe", "netdev", netdev], check=True)
    require(resources.until(places.has_address, 10), "the device did not come back")
    check_right(objects(lab, warm=True))
    check_serves(lab)


def pool_empty(lab):
    with_leases(lab, ["--max-leases-per-recipe", "1"])
    running = [start_at(lab, "opened", warm=True) for _ in range(4)]
    results = [proceed(program) for program in running]
    for result in results:
        check_right(result)
    check_gets_lease(lab)


def crowd(lab):
    with_leases(lab)
    running = [lab.start([lab.build.program("objects")], warm=True) for _ in range(CROWD)]
    adopted = 0
    for program in running:
        result = program.wait()
        check_right(result)
        adopted += bool(trace.opens(result.events, trace.ADOPTED))
    require(adopted, "nobody got a lease")


def few_descriptors(lab):
    """The daemon runs out of descriptors, refuses some, and goes on."""
    with_leases(lab, prefix=["prlimit", "--nofile=40:40"])
    running = [lab.start([lab.build.program("objects")], warm=True) for _ in range(30)]
    for program in running:
        check_right(program.wait())
    require(lab.daemon.running, "the daemon ended")
    check_serves(lab)


def preload_by_name(lab):
    """WARMVERBS_NAME sets programs apart, WARMVERBS_LEASE=0 and WARMVERBS_DISABLE=1 opt out."""
    with_leases(lab)
    words = [lab.build.program("objects")]
    check_plain(lab.run(words, warm=True, env={"WARMVERBS_NAME": "another"}))
    check_plain(lab.run(words, warm=True, env={"WARMVERBS_LEASE": "0"}))
    disabled = lab.run(words, warm=True, env={"WARMVERBS_DISABLE": "1"})
    check_plain(disabled)
    require_equal(disabled.events, [], "what a preload that is off traces")
    check_gets_lease(lab)


def cases():
    plain = [
        ("no socket", socket_absent),
        ("a socket that refuses", socket_refuses),
        ("a socket that is gone", socket_gone),
        ("the daemon hangs", hung),
        ("the daemon is killed during traffic", daemon_killed_during_traffic),
        ("programs are killed during traffic", programs_killed_during_traffic),
        ("other arguments", other_arguments),
        ("another user", other_user),
        ("a user without right to the socket", socket_denied),
        ("a user without right to the node", node_denied),
        ("the node is missing", node_missing),
        ("the pool is empty", pool_empty),
        (f"{CROWD} programs at once", crowd),
        ("the daemon is out of descriptors", few_descriptors),
        ("the environment opts out", preload_by_name),
        ("the device is removed while leases are held", device_removed),
    ]
    staged = [
        ("the daemon is killed, program {}", daemon_killed_at, STAGES),
        ("the daemon is killed, program recorded and {}", daemon_killed_while_recorded,
         ["listed", "created", "connected"]),
        ("the daemon is restarted, program {}", daemon_restarted_at, ["listed", "created", "connected"]),
        ("the program is killed, {}", program_killed_at, STAGES),
        ("the program is killed, recorded and {}", program_killed_while_recorded, ["created", "connected"]),
    ]
    for name, make, stages in staged:
        yield from (Case(TOPIC, name.format(stage), make(stage)) for stage in stages)
    yield from (Case(TOPIC, name, run) for name, run in plain)
