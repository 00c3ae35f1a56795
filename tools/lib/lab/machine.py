# SPDX-License-Identifier: BSD-2-Clause
"""One virtual machine: its QEMU command line, and the run of a job in it."""

import contextlib
import dataclasses
import functools
import itertools
import os
import pathlib
import secrets
import socket
import sys

from . import cache, process
from .job import below, forwarded_environment, guest_script, lab_environment
from .peer import Peer
from .report import LabError, warn
from .session import PORTS, Session
from .wire import Wire

QEMU = "qemu-system-x86_64"
DEVICE = "rxe0"
GUEST_OUT = "/run/lab/out"
GUEST_BIN = "/run/lab/bin"
AGENT = f"{GUEST_BIN}/agent"
REQUESTS = "requests"  # a port of the first machine of two
PEER = "-peer"
GUEST_OWN = ("/dev", "/proc", "/run", "/sys")
CONSOLE_TAIL_LINES = 80  # A panic message takes up to 50 lines.
KERNEL_OPTIONS = (
    "console=ttyS0 loglevel=5 panic=-1 oops=panic mitigations=off audit=0 tsc=reliable nokaslr"
    # An emulated CPU on a busy host may pause for longer than these watchdogs allow, and than ten ticks of the timer,
    # which the kernel waits for before it panics: "IO-APIC + timer doesn't work".
    " nowatchdog rcupdate.rcu_cpu_stall_suppress=1 no_timer_check"
)


@dataclasses.dataclass(frozen=True)
class Settings:
    name: str
    memory: str
    cpus: int
    accelerator: tuple  # QEMU options
    kernel_options: str = ""

    def __str__(self):
        return f"{self.name}, {self.cpus} CPU{'s' if self.cpus > 1 else ''}, {self.memory}"


def emulated(cpus, memory):
    """The guest's clock is the HPET, which states its frequency. The kernel measures that of the TSC while it boots; on
    a busy host the result may be wrong, and guest time ran seven times too fast once. For the same reason lpj tells it
    how long to spin (HZ is 250 in Debian). The kernel leaves out what takes a fifth of its boot and serves no test: its
    self-tests, clearing the memory that it allocates, and all security modules but those that a sandbox or a container
    may ask for."""
    accelerator = ("-accel", "tcg,thread=multi", "-cpu", "max")
    options = "clocksource=hpet init_on_alloc=0 lsm=landlock,apparmor cryptomgr.notests lpj=8000000"
    return Settings("emulated", memory, cpus, accelerator, kernel_options=options)


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


class Machine:
    """One that runs, until stop(). `ports` are our ends of its serial ports."""

    def __init__(self, image, settings, shares, console, node=None, names=PORTS, wires=()):
        """`wires` are the sockets of its Ethernet devices; node 1 or 2 has them."""
        self.ports, theirs = zip(*(socket.socketpair() for _ in names))
        devices = [
            *map(port_options, range(1, len(names) + 1), names, [end.fileno() for end in theirs]),
            *(wire_options(number, node, end.fileno()) for number, end in enumerate(wires)),
        ]
        with open(console, "ab") as log:  # For the messages of QEMU itself and of the guest.
            self.process = process.start(
                qemu_command(image, settings, shares, console, devices),
                pass_fds=[end.fileno() for end in (*theirs, *wires)],
                stdout=log,
                stderr=log,
            )
        for end in theirs:
            end.close()

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        process.stop(self.process)


def run(image, job, settings, nodes, boot_seconds):
    """Boot, run the job, return its status. All machines are gone when this returns or raises."""
    process.require(QEMU)
    check_visible(job.cwd)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(cache.temporary_folder())
        return (run_one if nodes == 1 else run_two)(image, job, settings, boot_seconds, pathlib.Path(folder), stack)


def run_one(image, job, settings, boot_seconds, folder, stack):
    session, _ = first_machine(image, job, settings, boot_seconds, folder, stack)
    return session.follow()


def run_two(image, job, settings, boot_seconds, folder, stack):
    wires = Wire(), Wire()
    session, machine = first_machine(
        image, job, settings, boot_seconds, folder, stack, 1, (*PORTS, REQUESTS), [wire.ends[0] for wire in wires]
    )
    agent = dataclasses.replace(job, command=[AGENT])
    shares, _ = prepare(folder / "peer", image, agent, 2)
    console = console_log(job, PEER)
    console.write_bytes(b"")
    log = stack.enter_context(open(console, "ab", buffering=0))
    start = functools.partial(Machine, image, settings, shares, console, 2, wires=[wire.ends[1] for wire in wires])
    peer = Peer(start, wires, session, machine.ports[-1], log.fileno())
    stack.callback(peer.stop)
    return session.follow()


def first_machine(image, job, settings, boot_seconds, folder, stack, node=None, names=PORTS, wires=()):
    """The machine that runs the job, and the session that follows it."""
    shares, mark = prepare(folder / "job", image, job, node)
    console = console_log(job)
    console.write_bytes(b"")
    machine = Machine(image, settings, shares, console, node, names, wires)
    stack.callback(machine.stop)
    session = Session(machine.ports, mark.encode(), boot_seconds, job.timeout)
    stack.callback(session.flush)
    return session, machine


def prepare(folder, image, job, node):
    """The shares of a machine, whose job is written to the folder, and the mark at the end of the job's output."""
    mark = secrets.token_hex(16)
    folder.mkdir()
    write_job(folder, job, mark, node)
    return {"host": "/", "job": folder, "modules": image.modules, "out": job.out}, mark


def check_visible(cwd):
    for folder in GUEST_OWN:
        if below(cwd, folder):
            raise LabError(f"the guest has its own {folder}, so this folder is not there: {cwd}")


def console_log(job, which=""):
    return job.out / f"console{which}.log"


def write_job(folder, job, mark, node):
    environment = {**forwarded_environment(), **lab_environment("vm", DEVICE, GUEST_OUT)}
    if node:
        environment |= node_environment(node, environment.get("PATH", os.defpath))
        (folder / "node").write_text(f"{node}\n")
    (folder / "run").write_text(guest_script(job, environment), errors="surrogateescape")
    (folder / "mark").write_text(mark)
    if below(job.cwd, "/tmp"):
        (folder / "keep-tmp").touch()
    if job.systemd:
        (folder / "systemd").touch()


def node_environment(node, path):
    """As guest/session gives addresses."""
    return {
        "PATH": f"{GUEST_BIN}:{path}",
        "LAB_ADDRESS": f"10.77.0.{node}",
        "LAB_PEER_ADDRESS": f"10.77.0.{3 - node}",
        "LAB_CONTROL_ADDRESS": f"10.76.0.{node}",
    }


def qemu_command(image, settings, shares, console, devices):
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
        *flatten(devices),
        *flatten(map(share_options, shares.keys(), shares.values())),
    ]


def port_options(number, name, descriptor):
    return (
        *("-chardev", f"socket,id={name},fd={descriptor}"),
        *("-device", f"virtserialport,nr={number},chardev={name},name=lab.{name}"),
    )


def wire_options(number, node, descriptor):
    mac = f"52:54:00:77:0{number}:0{node}"
    return (
        *("-netdev", f"dgram,id=wire{number},local.type=fd,local.str={descriptor}"),
        # Without its ROM, which boots from a network. Of a device without a speed the kernel complains at each query.
        *("-device", f"virtio-net-pci,netdev=wire{number},mac={mac},speed=10000,duplex=full,romfile="),
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


def show_console_tail(job, which=""):
    log = console_log(job, which)
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    if lines:
        warn(f"the end of {log.name}:")
    for line in lines[-CONSOLE_TAIL_LINES:]:
        print(f"    {line}", file=sys.stderr)
