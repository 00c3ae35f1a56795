# SPDX-License-Identifier: BSD-2-Clause
"""What programs in containers get."""

import contextlib
import functools
import grp
import pathlib
import subprocess

import roots
import runtimes
from service import node as nodes, units
from service.node import adopted, check_plain, check_right
from suite import places, resources
from suite.report import Case, Failure, Skip, require, require_equal
from support.cases import attempts

SPECIFICATION = pathlib.Path("/run/cdi/warmverbs.json")
PRELOAD_LIST = "etc/ld.so.preload"
LIMIT_S = 300
OTHER_RELEASE = pathlib.Path.home() / ".cache/warmverbs/matrix/trixie"
REFUSED = "the daemon's socket does not let this user connect"
NO_BUNDLE = "cannot read config.json"
SUBORDINATE = "0:100000:65536"
SAYS_PARENT = 'echo "$WORD $PPID"; exit 3'
TOO_LATE = "timed out"  # no child answered, on a busy machine
KEEP_GROUPS = ("--group-add", "keep-groups")


def root(node, make, *more):
    return make(node.folder / "root", *more)


def set_up(node):
    """What an administrator does: the service, and the specification."""
    node.start_service()
    units.systemctl("start", "warmverbs-cdi.path")
    require(resources.until(SPECIFICATION.exists, LIMIT_S), "there is no specification")


def check_warm(node, run):
    """The first run may be recorded, and on a busy machine an answer may come too late."""
    set_up(node)
    for _ in attempts(free=1):
        result = run()
        check_right(result)
        if adopted(result):
            return
        node.await_leases()
    raise Failure("there are no leases")


def warm_in(node, runtime, *options, image=roots.debian, **how):
    image = root(node, image, node.build)
    check_warm(node, lambda: node.run_podman(image, "objects", runtime=runtime, options=options, **how))


def crun(node):
    warm_in(node, "crun")


def runc(node):
    warm_in(node, "runc")


def read_only(node):
    """Runtimes make the root read-only after they have run the hook."""
    warm_in(node, "crun", "--read-only")


def ctr(node):
    image = root(node, roots.debian, node.build)
    check_warm(node, lambda: node.run_ctr(image, "objects"))


def other_release(node):
    """Another glibc and another rdma-core than the node's, with which the library was built."""
    if not list(OTHER_RELEASE.glob("usr/lib/*/libibverbs.so.1")):
        raise Skip(f"there is no {OTHER_RELEASE}, or it is not complete; tools/matrix makes it")
    warm_in(node, "crun", image=functools.partial(roots.debian, source=OTHER_RELEASE))


def check_logged(reason):
    require(resources.until(lambda: reason in runtimes.hooks_say(), LIMIT_S, 0.2), f"the log does not say: {reason}")


def check_untouched(node, image, *command, out):
    """The program's own output and nothing else."""
    set_up(node)
    result = node.run_podman(image, *command)
    require_equal((result.status, result.out, result.err), (0, out, ""), "result")


def without_glibc(node):
    """A static shell, and a program with musl."""
    image = root(node, roots.musl)
    check_untouched(node, image, "busybox", "sh", "-c", "/usr/bin/hello && echo world", out="hello\nworld\n")
    check_logged("the image has no glibc")


def without_rdma_core(node):
    check_untouched(node, root(node, roots.without_rdma_core), "env", "-i", "env", "A=b", out="A=b\n")


def own_list(node):
    """The list of the image stays: a library of it may be what the image needs."""
    image = root(node, roots.debian, node.build)
    (image.folder / PRELOAD_LIST).write_text("/usr/lib/x86_64-linux-gnu/libibverbs.so.1\n")
    set_up(node)
    check_plain([node.run_podman(image, "objects")])
    require_equal((image.folder / PRELOAD_LIST).read_text(), "/usr/lib/x86_64-linux-gnu/libibverbs.so.1\n", "the list")
    check_logged("the image has an /etc/ld.so.preload of its own")


def own_library(node):
    image = root(node, roots.debian, node.build).add_ours(node.build.preload)
    options = ["--env", f"LD_PRELOAD=/usr/bin/{node.build.preload.name}"]
    check_warm(node, lambda: node.run_podman(image, "objects", options=options))


def without_capabilities(node):
    """The daemon's socket is not for the container's user."""
    image = root(node, roots.with_command_line, node.build)
    set_up(node)
    result = node.run_podman(image, "warmverbs", "explain", "--", "objects", options=["--cap-drop", "all"])
    check_right(result)
    require(REFUSED in result.err, "no reason is given")


def added_group(node):
    warm_in(node, "crun", "--cap-drop", "all", "--group-add", str(grp.getgrnam("rdma").gr_gid))


def user_namespace(node):
    """Root of the container may not connect to the daemon. crun 1.8 does not tell the hook where the bundle is."""
    image = root(node, roots.with_command_line, node.build)
    subprocess.run(["chown", "--recursive", "100000:100000", image.folder], check=True)
    set_up(node)
    options = ["--uidmap", SUBORDINATE, "--gidmap", SUBORDINATE]
    check_plain([node.run_podman(image, "objects", options=options)])
    check_logged(NO_BUNDLE)
    result = node.run_podman(image, "warmverbs", "explain", "--", "objects", runtime="runc", options=options)
    check_right(result)
    require(REFUSED in result.err, "no reason is given")


def of_user(folder, build):
    """An image that a user who is not root has unpacked."""
    image = roots.with_command_line(folder, build)
    subprocess.run(["chown", "--recursive", f"{runtimes.USER}:", folder], check=True)
    return image


def rootless(node):
    """As docs/operations.md says; also another user of the container, who is a subordinate user of the node."""
    prefix = runtimes.as_user("rdma")
    image = root(node, of_user, node.build)
    for user in ("0", "1000"):
        options = ["--user", user, *KEEP_GROUPS]
        check_warm(node, lambda options=options: node.run_podman(image, "objects", options=options, prefix=prefix))


def rootless_without_groups(node):
    """The container has the user's groups only if it is told to, and only with crun."""
    prefix = runtimes.as_user("rdma")
    image = root(node, of_user, node.build)
    set_up(node)
    for runtime, options in (("crun", ()), ("runc", KEEP_GROUPS)):
        result = node.run_podman(image, "warmverbs", "explain", "--", "objects", runtime=runtime, options=options,
                                 prefix=prefix)
        check_right(result)
        require(REFUSED in result.err, f"no reason is given with {runtime}")


def rootless_in_user_namespace(node):
    """crun 1.8 does not tell the hook where the bundle is."""
    prefix = runtimes.as_user("rdma")
    image = root(node, of_user, node.build)
    set_up(node)
    logged = runtimes.hooks_say().count(NO_BUNDLE)
    result = node.run_podman(image, "objects", options=["--userns", "keep-id", *KEEP_GROUPS], prefix=prefix)
    check_plain([result])
    require(resources.until(lambda: runtimes.hooks_say().count(NO_BUNDLE) > logged, LIMIT_S, 0.2),
            "the log does not say why")


def own_network(node):
    """RDMA's shared mode, the default: each namespace has all devices."""
    warm_in(node, "crun", network="none")


def set_mode(mode):
    """Fails while there is another network namespace; that of a container goes after the container."""
    words = ["rdma", "system", "set", "netns", mode]
    require(resources.until(lambda: subprocess.run(words, check=False).returncode == 0, LIMIT_S, 0.2),
            f"{' '.join(words)} fails")


@contextlib.contextmanager
def exclusive_mode():
    """A device belongs to one network namespace: here to that of the node."""
    set_mode("exclusive")
    try:
        yield
    finally:
        set_mode("shared")


def exclusive(node):
    with exclusive_mode():
        warm_in(node, "crun")


def exclusive_own_network(node):
    """The program has no device, and says the same."""
    image = root(node, roots.debian, node.build)
    set_up(node)
    with exclusive_mode():
        plain, result = (node.run_podman(image, "objects", device=device, network="none")
                         for device in (places.node(), runtimes.DEVICE))
    require(plain.status, "there is a device")
    require_equal((result.status, result.out, result.err), (plain.status, plain.out, plain.err), "result")


def ask_template(node, runtime, env=None):
    """What a program answers, and how it ends, whose template is in a container: executed there, and outside."""
    socket = node.folder / "template"
    words = ["env", "WORD=one", "WARMVERBS_VERBOSE=1", roots.START, "--socket", str(socket)]
    words += ["/bin/sh", "-c", SAYS_PARENT]
    template = [roots.TEMPLATE, "--socket", str(socket), "--", "/bin/sh"]
    with node.container(root(node, roots.with_templates), *template, runtime=runtime, env=env) as execute:
        require(resources.until(socket.exists, LIMIT_S), "there is no template")
        for _ in attempts():
            inside = execute(*words)
            if TOO_LATE not in inside.err:
                break
        return inside, node.start(words, warm=False).wait(LIMIT_S)


def check_started(inside):
    """The supervisor is the first process of the container."""
    require_equal((inside.status, inside.out), (3, "one 1\n"), "result")
    require("is executed" not in inside.err, f"executed: {inside.err}")


def check_executed(result, reason):
    require_equal((result.status, result.out.split()[:1]), (3, ["one"]), "result")
    require(reason in result.err, f"another reason: {result.err}")


def exec_and_runc(node):
    inside, outside = ask_template(node, "runc")
    check_started(inside)
    check_executed(outside, "the client has another /proc")


def exec_and_crun(node):
    """crun 1.8 does not let what it executes join the container's session keyring."""
    inside, outside = ask_template(node, "crun")
    check_executed(inside, "session keyring differs")
    check_executed(outside, "the client has another /proc")


def exec_without_keyrings(node):
    """As docs/templates.md says."""
    config = node.folder / "containers.conf"
    config.write_text("[containers]\nkeyring = false\n")
    inside, _ = ask_template(node, "crun", {"CONTAINERS_CONF": str(config)})
    check_started(inside)


def stopped(node):
    node.start_service()
    units.systemctl("stop", "warmverbs-cdi.path", units.SOCKET, units.SERVICE)
    nodes.Node.check_nothing_left(node)


def cases():
    for name, run in [
        ("podman and crun: warm", crun),
        ("podman and runc: warm", runc),
        ("ctr: warm", ctr),
        ("a read-only root: warm", read_only),
        ("an image with another glibc and rdma-core: warm", other_release),
        ("an image with musl and a static program: as without warmverbs", without_glibc),
        ("an image without libibverbs: as without warmverbs", without_rdma_core),
        ("an image with an ld.so.preload of its own: plain", own_list),
        ("an image with a libwarmverbs of its own: warm", own_library),
        ("root without capabilities: plain, and explained", without_capabilities),
        ("root without capabilities in the socket's group: warm", added_group),
        ("a user namespace: plain", user_namespace),
        ("rootless, with the user's groups: warm", rootless),
        ("rootless, without the user's groups: plain, and explained", rootless_without_groups),
        ("rootless, in a user namespace of its own: plain", rootless_in_user_namespace),
        ("a network namespace of its own: warm", own_network),
        ("RDMA's exclusive mode, network of the node: warm", exclusive),
        ("RDMA's exclusive mode, network of its own: as without warmverbs", exclusive_own_network),
        ("a template in a container, podman exec and runc: started; a client outside: executed", exec_and_runc),
        ("a template in a container, podman exec and crun: executed", exec_and_crun),
        ("a template in a container, podman exec and crun without keyrings: started", exec_without_keyrings),
        ("the service stops, and nothing is left", stopped),
    ]:
        yield Case("containers", name, run)
