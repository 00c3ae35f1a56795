"""One virtual machine: its QEMU command line, its three ports, and the run of a job in it."""

import collections
import dataclasses
import os
import pathlib
import secrets
import selectors
import socket
import sys
import tempfile
import time

from . import process
from .job import below, forwarded_environment, guest_script, lab_environment
from .report import EXIT_TIMEOUT, Ended, LabError, warn

QEMU = "qemu-system-x86_64"
DEVICE = "rxe0"
GUEST_OUT = "/run/lab/out"
BOOT_SECONDS = 120
# Between the job's exit status and the end of its output, which has to overtake nothing: only a broken guest needs it.
DRAIN_SECONDS = 10
CONSOLE_TAIL_LINES = 40
CHUNK = 1 << 16

# In the guest these are /dev/vport0p1 and so on, in this order.
PORTS = ("control", "stdout", "stderr")

KERNEL_OPTIONS = (
    "console=ttyS0 loglevel=5 panic=-1 oops=panic mitigations=off audit=0 tsc=reliable"
    # An emulated CPU on a busy host may stand still for longer than these watchdogs allow.
    " nowatchdog rcupdate.rcu_cpu_stall_suppress=1"
)


@dataclasses.dataclass(frozen=True)
class Settings:
    name: str
    memory: str
    cpus: int
    accelerator: tuple  # QEMU options
    kernel_options: str = ""
    boot_seconds: float = BOOT_SECONDS


def emulated(cpus, memory):
    return Settings("emulated", memory, cpus, ("-accel", "tcg,thread=multi", "-cpu", "max"))


def virtualized(cpus, memory):
    return Settings("KVM", memory, cpus, ("-accel", "kvm", "-cpu", "host"))


def counting(memory):
    """One instruction takes 1 ns of guest time: repeatable, whatever else the host does."""
    accelerator = ("-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off,align=off", "-cpu", "max")
    return Settings("counting instructions", memory, 1, (*accelerator, "-rtc", "clock=vm"), kernel_options="nokaslr")


class Stream:
    """One output of the job on its way to ours, up to the mark that ends it."""

    def __init__(self, descriptor, mark):
        self.descriptor = descriptor
        self.mark = mark
        self.held = b""
        self.complete = False

    def feed(self, data):
        if self.complete:
            return
        text, found, _ = (self.held + data).partition(self.mark)
        self.complete = bool(found)
        keep = 0 if found else self.possible_mark(text)
        self.held = text[len(text) - keep :]
        write_all(self.descriptor, text[: len(text) - keep])

    def possible_mark(self, text):
        """How many bytes at the end of the text could be the mark's beginning."""
        longest = min(len(self.mark) - 1, len(text))
        return next((size for size in range(longest, 0, -1) if text.endswith(self.mark[:size])), 0)

    def flush(self):
        write_all(self.descriptor, self.held)
        self.held = b""


class Control:
    """The guest's reports: up, ready, exit STATUS, fail REASON; one per line."""

    def __init__(self):
        self.partial = b""
        self.reports = collections.deque()

    def feed(self, data):
        *lines, self.partial = (self.partial + data).split(b"\n")
        self.reports.extend(line.decode(errors="replace").partition(" ")[::2] for line in lines)


class Session:
    """Follows a running machine until its job is done."""

    def __init__(self, sockets, mark, job, settings):
        self.selector = selectors.DefaultSelector()
        self.control = Control()
        self.streams = [Stream(1, mark), Stream(2, mark)]
        for end, sink in zip(sockets, (self.control, *self.streams)):
            self.selector.register(end, selectors.EVENT_READ, sink)
        self.job = job
        self.status = None
        self.allow(settings.boot_seconds, LabError(f"the guest gave no sign of life in {settings.boot_seconds} s"))

    def allow(self, seconds, otherwise):
        """Set the deadline of the phase that begins, and what to raise when it is missed."""
        self.deadline = time.monotonic() + seconds
        self.otherwise = otherwise

    def follow(self):
        while self.status is None or not self.drained():
            events = self.selector.select(max(0, self.deadline - time.monotonic()))
            for key, _ in events:
                self.receive(key.fileobj, key.data)
            if not events and time.monotonic() >= self.deadline:
                raise self.otherwise
        return self.status

    def drained(self):
        return all(stream.complete for stream in self.streams)

    def receive(self, end, sink):
        data = receive_some(end)
        if not data:
            raise LabError("the guest died before the command had ended")
        sink.feed(data)
        while self.control.reports:
            self.handle(*self.control.reports.popleft())

    def handle(self, report, detail):
        if report == "fail":
            raise LabError(f"the guest could not set itself up: {detail}")
        if report == "ready":
            limit = self.job.timeout
            self.allow(limit, Ended(EXIT_TIMEOUT, f"the command did not end within {limit:g} s"))
        if report == "exit":
            self.status = int(detail)
            self.allow(DRAIN_SECONDS, LabError("the end of the command's output did not arrive"))

    def flush(self):
        for stream in self.streams:
            stream.flush()


def receive_some(end):
    try:
        return end.recv(CHUNK)
    except ConnectionResetError:
        return b""


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]


def run(image, job, settings):
    """Boot, run the job, return its exit status. The machine is gone when this returns or raises."""
    process.require(QEMU)
    console = job.out / "console.log"
    with tempfile.TemporaryDirectory(prefix="warmverbs-lab-") as folder:
        mark = secrets.token_hex(16)
        write_job(pathlib.Path(folder), job, mark)
        shares = {"host": "/", "job": folder, "modules": image.modules, "out": job.out}
        try:
            return boot(image, job, settings, shares, console, mark.encode())
        except LabError:
            show_tail(console)
            raise


def write_job(folder, job, mark):
    environment = {**forwarded_environment(), **lab_environment("vm", DEVICE, GUEST_OUT)}
    (folder / "run").write_text(guest_script(job, environment), errors="surrogateescape")
    (folder / "mark").write_text(mark)
    if below(job.cwd, "/tmp"):
        (folder / "keep-tmp").touch()


def boot(image, job, settings, shares, console, mark):
    ours, theirs = zip(*(socket.socketpair() for _ in PORTS))
    descriptors = [end.fileno() for end in theirs]
    with open(console, "wb") as log:
        command = qemu_command(image, settings, shares, console, descriptors)
        qemu = process.start(command, pass_fds=descriptors, stdout=log, stderr=log)
    try:
        for end in theirs:
            end.close()
        session = Session(ours, mark, job, settings)
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
        *("-append", f"{KERNEL_OPTIONS} {settings.kernel_options}"),
        *("-chardev", f"file,id=console,path={quote(console)},append=on", "-serial", "chardev:console"),
        *("-device", "virtio-serial-pci"),
        *(option for number, fd in enumerate(descriptors, 1) for option in port_options(number, fd)),
        *(option for tag, path in shares.items() for option in share_options(tag, path)),
    ]


def port_options(number, descriptor):
    name = PORTS[number - 1]
    return (
        *("-chardev", f"socket,id={name},fd={descriptor}"),
        *("-device", f"virtserialport,nr={number},chardev={name},name=lab.{name}"),
    )


def share_options(tag, path):
    readonly = "off" if tag == "out" else "on"
    # remap: folders of several file systems of the host appear in one share, and inode numbers must not clash.
    local = f"local,id={tag},path={quote(path)},security_model=none,readonly={readonly},multidevs=remap"
    return ("-fsdev", local, "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}")


def quote(path):
    """A comma separates QEMU's suboptions."""
    return str(path).replace(",", ",,")


def show_tail(console):
    lines = console.read_text(errors="replace").splitlines() if console.exists() else []
    if lines:
        warn(f"the end of the guest's console ({console}):")
    for line in lines[-CONSOLE_TAIL_LINES:]:
        print(f"    {line}", file=sys.stderr)
