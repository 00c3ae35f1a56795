# SPDX-License-Identifier: BSD-2-Clause
"""One virtual machine: its QEMU command line, and the run of a job in it."""

import dataclasses
import itertools
import pathlib
import secrets
import socket
import sys

from . import cache, process
from .job import below, forwarded_environment, guest_script, lab_environment
from .report import LabError, warn
from .session import PORTS, Session

QEMU = "qemu-system-x86_64"
DEVICE = "rxe0"
GUEST_OUT = "/run/lab/out"
GUEST_OWN = ("/dev", "/proc", "/run", "/sys")
BOOT_SECONDS = 300
CONSOLE_TAIL_LINES = 80  # A panic message takes up to 50 lines.
KERNEL_OPTIONS = (
    "console=ttyS0 loglevel=5 panic=-1 oops=panic mitigations=off audit=0 tsc=reliable nokaslr"
    # An emulated CPU on a busy host may pause for longer than these watchdogs allow.
    " nowatchdog rcupdate.rcu_cpu_stall_suppress=1"
)


@dataclasses.dataclass(frozen=True)
class Settings:
    name: str
    memory: str
    cpus: int
    accelerator: tuple  # QEMU options
    boot_seconds: int = BOOT_SECONDS
    kernel_options: str = ""

    def __str__(self):
        return f"{self.name}, {self.cpus} CPU{'s' if self.cpus > 1 else ''}, {self.memory}"


def emulated(cpus, memory):
    return Settings("emulated", memory, cpus, ("-accel", "tcg,thread=multi", "-cpu", "max"))


def virtualized(cpus, memory):
    return Settings("KVM", memory, cpus, ("-accel", "kvm", "-cpu", "host"))


def counting(memory):
    """One instruction takes 1 ns of guest time: repeatable, whatever else the host does. A string instruction counts
    once for each word, or for each byte where the CPU has ERMS or FSRM; a real one clears memory much faster. So this
    CPU has neither, and the kernel does not clear what it allocates (tools/bench calibration)."""
    accelerator = ("-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off,align=off")
    clock = ("-rtc", "clock=vm")
    cpu = ("-cpu", "max,-erms,-fsrm")
    return Settings(
        "counting instructions", memory, 1, (*accelerator, *clock, *cpu), kernel_options="init_on_alloc=0"
    )


def run(image, job, settings):
    """Boot, run the job, return its status. The machine is gone when this returns or raises."""
    process.require(QEMU)
    check_visible(job.cwd)
    with cache.temporary_folder() as folder:
        mark = secrets.token_hex(16)
        write_job(pathlib.Path(folder), job, mark)
        shares = {"host": "/", "job": folder, "modules": image.modules, "out": job.out}
        return boot(image, job, settings, shares, mark.encode())


def check_visible(cwd):
    for folder in GUEST_OWN:
        if below(cwd, folder):
            raise LabError(f"the guest has its own {folder}, so this folder is not there: {cwd}")


def console_log(job):
    return job.out / "console.log"


def write_job(folder, job, mark):
    environment = {**forwarded_environment(), **lab_environment("vm", DEVICE, GUEST_OUT)}
    (folder / "run").write_text(guest_script(job, environment), errors="surrogateescape")
    (folder / "mark").write_text(mark)
    if below(job.cwd, "/tmp"):
        (folder / "keep-tmp").touch()
    if job.systemd:
        (folder / "systemd").touch()


def boot(image, job, settings, shares, mark):
    ours, theirs = zip(*(socket.socketpair() for _ in PORTS))
    descriptors = [end.fileno() for end in theirs]
    console = console_log(job)
    console.write_bytes(b"")
    with open(console, "ab") as log:  # For the messages of QEMU itself and of the guest.
        command = qemu_command(image, settings, shares, console, descriptors)
        qemu = process.start(command, pass_fds=descriptors, stdout=log, stderr=log)
    try:
        for end in theirs:
            end.close()
        session = Session(ours, mark, settings.boot_seconds, job.timeout)
        try:
            return session.follow()
        finally:
            session.flush()
    finally:
        process.stop(qemu)


def qemu_command(image, settings, shares, console, descriptors):
    return [
        process.find(QEMU),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-machine", "q35"),
        *settings.accelerator,
        *("-smp", str(settings.cpus), "-m", settings.memory),
        *("-kernel", str(image.kernel), "-initrd", str(image.initrd)),
        *("-append", f"{KERNEL_OPTIONS} {settings.kernel_options}".strip()),
        *("-chardev", f"file,id=console,path={quote(console)},append=on"),
        *("-serial", "chardev:console"),
        *("-device", "virtio-serial-pci"),
        *flatten(map(port_options, range(1, len(PORTS) + 1), PORTS, descriptors)),
        *flatten(map(share_options, shares.keys(), shares.values())),
    ]


def port_options(number, name, descriptor):
    return (
        *("-chardev", f"socket,id={name},fd={descriptor}"),
        *("-device", f"virtserialport,nr={number},chardev={name},name=lab.{name}"),
    )


def share_options(tag, path):
    # remap: a share may span several file systems, whose inode numbers must not clash.
    how = f"security_model=none,multidevs=remap,readonly={'off' if tag == 'out' else 'on'}"
    return (
        *("-fsdev", f"local,id={tag},path={quote(path)},{how}"),
        *("-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"),
    )


flatten = itertools.chain.from_iterable


def quote(path):
    """A comma separates QEMU's suboptions."""
    return str(path).replace(",", ",,")


def show_console_tail(job):
    log = console_log(job)
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    if lines:
        warn("the end of the guest's console:")
    for line in lines[-CONSOLE_TAIL_LINES:]:
        print(f"    {line}", file=sys.stderr)
