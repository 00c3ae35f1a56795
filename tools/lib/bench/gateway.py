# SPDX-License-Identifier: BSD-2-Clause
"""A web server in front of functions: lighttpd, which starts a container for each request (CGI, crun), keeps processes
(FastCGI), or has a process that forks for each request (FastCGI too). It is small, Debian has it, and it does these
three by itself."""

import contextlib
import os
import pathlib
import shlex
import socket
import subprocess
import tempfile

import session

from . import container

CGROUPS = "/sys/fs/cgroup"
START_SECONDS = 20
KEPT_PROCESSES = 4

CONFIGURATION = """\
server.modules = ("mod_cgi", "mod_fastcgi")
server.document-root = "{folder}"
server.bind = "127.0.0.1"
server.port = {port}
server.errorlog = "{folder}/log"
server.breakagelog = "{folder}/log"
cgi.assign = (".cgi" => "")
fastcgi.server = (
    "/kept" => (({kept})),
    "/fork" => (({fork})),
)
"""


@contextlib.contextmanager
def gateway(handler, port, environment):
    """Serves /empty.cgi, /cold.cgi, /kept and /fork of the function `handler`, which reads from the memory server at
    `port`. `environment` has the variables of each way. The URL in front of them."""
    with tempfile.TemporaryDirectory(prefix="warmverbs-gateway-") as name:
        folder = pathlib.Path(name)
        own_port = free_port()
        cgi(folder, "empty", ["/bin/echo", "Content-Type: text/plain\n\n"], environment["cold"])
        cgi(folder, "cold", [handler, port], environment["cold"])
        backends = {
            "kept": backend(folder, "kept", [handler, port], KEPT_PROCESSES, environment["kept"]),
            "fork": backend(folder, "fork", [handler, "-f", port], 1, environment["fork"]),
        }
        path = folder / "lighttpd.conf"
        path.write_text(CONFIGURATION.format(folder=folder, port=own_port, **backends))
        with running(path, own_port, folder / "log"):
            yield f"http://127.0.0.1:{own_port}"


def cgi(folder, name, command, environment):
    """A CGI program that runs the command in a container of its own."""
    bundle = folder / f"{name}.bundle"
    container.make(bundle, command, environment)
    path = folder / f"{name}.cgi"
    path.write_text(f"#!/bin/sh\nexec {words(container.run_words(bundle))} {name}-$$\n")
    path.chmod(0o755)


def backend(folder, name, command, processes, environment):
    """A FastCGI program, for the configuration of lighttpd."""
    variables = ", ".join(f"{quoted(name)} => {quoted(value)}" for name, value in environment.items())
    return (
        f'"socket" => "{folder}/{name}.socket", "bin-path" => {quoted(words(command))}, "check-local" => "disable", '
        f'"max-procs" => {processes}, "bin-environment" => ({variables})'
    )


def words(command):
    return shlex.join(map(str, command))


def quoted(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def running(configuration, port, log):
    # crun wants cgroups of version 2, though it makes none here.
    mount = f"test -e {CGROUPS}/cgroup.controllers || mount -t cgroup2 none {CGROUPS}"
    script = f"({mount}) && exec lighttpd -D -f {configuration}"
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    process = subprocess.Popen(["unshare", "--mount", "sh", "-c", script], env=environment, stdin=subprocess.DEVNULL)
    try:
        session.wait_until(lambda: listens(process, port), START_SECONDS, lambda: f"lighttpd did not start: {log}")
        yield
    finally:
        process.terminate()
        process.wait()


def listens(process, port):
    if process.poll() is not None:
        raise session.SessionError(f"lighttpd ended ({process.returncode})")
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
