# SPDX-License-Identifier: BSD-2-Clause
"""Runs a job on this machine itself, if it has an RDMA device or can make a software one."""

import contextlib
import os
import pathlib
import subprocess

from . import process
from .job import lab_environment
from .report import EXIT_SIGNAL_BASE, LabError, Progress, TimedOut

DEVICES = pathlib.Path("/sys/class/infiniband")
SOFT_DEVICE = "rxe0"
INTERFACE = "lab0"
ADDRESS = "10.77.0.1/24"
MODULES = ("dummy", "ib_uverbs", "rdma_ucm", "rdma_rxe")
REMEDY = "leave out --native to use a virtual machine"


def run(job):
    with device() as name:
        environment = {**os.environ, **lab_environment("native", name, job.out)}
        # If COMMAND cannot be started, the shell says why and ends with 126 or 127, as users expect.
        command = ["/bin/sh", "-c", 'exec "$@"', "sh", *job.command]
        child = process.start(command, env=environment)
        try:
            return shell_status(child.wait(job.timeout))
        except subprocess.TimeoutExpired:
            raise TimedOut(job.timeout) from None
        finally:
            process.stop(child)


def shell_status(returncode):
    return returncode if returncode >= 0 else EXIT_SIGNAL_BASE - returncode


@contextlib.contextmanager
def device():
    """The first RDMA device of this machine, or a software one for as long as the block lasts."""
    present = sorted(entry.name for entry in DEVICES.glob("*"))
    if present:
        yield present[0]
        return
    check_able()
    Progress.say(f"adding the soft-RoCE device {SOFT_DEVICE} for this run")
    process.output(["ip", "link", "add", INTERFACE, "type", "dummy"])
    try:
        process.output(["ip", "address", "add", ADDRESS, "dev", INTERFACE])
        process.output(["ip", "link", "set", INTERFACE, "up"])
        process.output(["rdma", "link", "add", SOFT_DEVICE, "type", "rxe", "netdev", INTERFACE])
        yield SOFT_DEVICE
    finally:
        # This removes the RDMA device too.
        process.output(["ip", "link", "delete", INTERFACE])


def check_able():
    """Find every obstacle that can be found before anything is changed."""
    if os.geteuid() != 0:
        raise LabError(f"no RDMA device here, and only root may add one; {REMEDY}")
    process.require("ip", "rdma", "modprobe")
    try:
        process.output(["modprobe", "-a", *MODULES])
    except LabError as error:
        raise LabError(f"this kernel cannot make a soft-RoCE device ({error}); {REMEDY}") from None
