# SPDX-License-Identifier: BSD-2-Clause
"""Which kind of CPU the guest gets: real (KVM) where a probe shows that it works, else emulated (TCG)."""

import os
import pathlib
import platform

from . import cache, machine
from .job import Job
from .report import LabError, Progress, TimedOut

KVM_DEVICE = "/dev/kvm"
PROBE_SECONDS = 20


def choose(image, count_instructions, cpus, memory):
    if count_instructions:
        return machine.counting(memory)
    if kvm_works(image):
        return machine.virtualized(cpus, memory)
    return machine.emulated(cpus, memory)


def kvm_works(image):
    """Some machines offer a /dev/kvm on which this kernel never starts. So only a probe counts, made once for each pair
    of kernels."""
    if not kvm_offered():
        return False
    verdict = image.kernel.parent / f"kvm-on-{platform.release()}"
    if not verdict.exists():
        verdict.write_text("yes" if probe(image) else "no")
    return verdict.read_text() == "yes"


def kvm_offered():
    flags = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    return bool(flags & {"vmx", "svm"}) and os.access(KVM_DEVICE, os.R_OK | os.W_OK)


def probe(image):
    Progress.say("trying once whether KVM works here")
    with cache.temporary_folder() as out:
        job = Job(["true"], PROBE_SECONDS, pathlib.Path(out), pathlib.Path("/"))
        try:
            return machine.run(image, job, machine.virtualized(1, "1G"), 1, PROBE_SECONDS) == 0
        except (LabError, TimedOut):
            return False
