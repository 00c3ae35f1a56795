# SPDX-License-Identifier: BSD-2-Clause
"""The lab's command line."""

import argparse
import contextlib
import functools
import os
import pathlib
import signal
import sys

from . import accelerator, cache, image, machine, native, siw
from .job import Job
from .report import EXIT_LAB_FAILED, EXIT_SIGNAL_BASE, Ended, GuestError, LabError, NotReady, Progress, warn
from .session import STDERR

BOOT_SECONDS = 100, 200, 300
SYSTEMD = pathlib.Path("/lib/systemd/systemd")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

DESCRIPTION = "Run a command where RDMA exists: in a throw-away virtual machine, or right here."

RUN_DESCRIPTION = """\
Runs COMMAND as root in the current folder, on a machine that has an RDMA
device: a virtual machine with Debian's stock kernel and a soft-RoCE device.
Its root is this machine's, so all programs and the whole tree are there, but
what COMMAND writes is kept in memory and forgotten, except below $LAB_OUT.
Output and exit status are passed on; standard input is empty.

Only one lab run at a time on a machine; a second one waits.
"""

RUN_EPILOG = """\
environment of COMMAND:
  LAB          "vm", or "native" with --native
  LAB_DEVICE   name of the RDMA device: rxe0, or the first there is with
               --native; GID index 1 of rxe0 is an IPv4 address
  LAB_OUT      folder whose files stay: DIR of --out, else a temporary one
  LAB_ADDRESS, LAB_PEER_ADDRESS
               with --nodes 2: the address of LAB_DEVICE, and that of the other
               machine's device
  A virtual machine also has PATH, HOME, CI, WARMVERBS_*, MESON_*, LAB_*,
  BENCH_*, ASAN_OPTIONS, UBSAN_OPTIONS and TSAN_OPTIONS from here, and nothing
  else.

exit status:
  that of COMMAND (128+N if signal N killed it), or
  124  COMMAND did not end in time
  125  the lab itself failed
  130  interrupted (other signals likewise: 143 if terminated)

files in DIR, besides those of COMMAND:
  console.log  warnings and errors of the guest's kernel; run dmesg as part of
               COMMAND to have everything
  console-peer.log
               with --nodes 2: those of the second machine

what is special in a virtual machine:
  /dev, /proc, /run and /sys are its own, and so is /tmp, unless the current
  folder is below it. There is no network but the loopback and dummy0.
  With --systemd, process 1 is this machine's systemd, with a journal in
  memory. None of the units that are enabled here is started, and there is
  neither udev nor D-Bus. COMMAND begins after multi-user.target.

two machines (--nodes 2):
  COMMAND runs on the first. The RDMA devices are joined by an Ethernet of QEMU,
  eth0 of both machines; each machine has its own /tmp, and both see LAB_OUT.
  COMMAND uses the second machine by lab-peer (lab-peer --help):
    lab-peer run COMMAND...  runs it there, with its output and exit status
    lab-peer pause, resume   stops the machine as a whole; lets it go on
    lab-peer kill, reboot    switches it off; and on again
    lab-peer partition, heal loses all packets between eth0 of both; not those
                             of lab-peer, which have a network of their own
  Delay and loss: tc qdisc add dev eth0 root netem delay 1ms loss 1%
  A link that goes down: ip link set eth0 down

examples:
  tools/lab run -- ibv_devinfo
  tools/lab run --out results -- sh -c 'ibv_devinfo -v >$LAB_OUT/devinfo'
  tools/lab run --count-instructions -- ibv_devices
  tools/lab run --systemd -- systemctl status
  tools/lab run --nodes 2 -- sh -c 'ibv_rc_pingpong -g 1 & sleep 5;
      lab-peer run ibv_rc_pingpong -g 1 $LAB_ADDRESS'
"""


class Parser(argparse.ArgumentParser):
    """A mistake in the lab's own arguments must not look like an exit status of COMMAND."""

    def error(self, message):
        self.print_usage(sys.stderr)
        warn(message)
        self.exit(EXIT_LAB_FAILED)


def parse(arguments):
    parser = Parser(prog="tools/lab", description=DESCRIPTION)
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add_run(commands)
    prepare = commands.add_parser(
        "prepare",
        help="get the kernel that apt offers and build the guest's image, so that runs need no network",
    )
    prepare.add_argument(
        "--siw",
        action="store_true",
        help="also build the kernel's driver for software iWARP, which Debian leaves out; in the guest: modprobe siw",
    )
    clean = commands.add_parser("clean", help="remove everything that prepare or a run cached")
    for each in (prepare, clean):
        each.add_argument("--quiet", action="store_true", help="say nothing about progress")
    return parser.parse_args(arguments)


def add_run(commands):
    run = commands.add_parser(
        "run",
        help="run a command",
        description=RUN_DESCRIPTION,
        epilog=RUN_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    flag = functools.partial(run.add_argument, action="store_true")
    number = functools.partial(run.add_argument, type=positive)
    flag("--native", help="on this machine, as the caller; adds rxe0 if there is no device")
    flag("--count-instructions", help="one CPU, 1 ns an instruction: repeatable times")
    flag("--systemd", help="boot systemd, and run COMMAND as its service lab.service")
    number("--nodes", metavar="N", default=1, help="number of machines: 1 or 2 (default: %(default)s)")
    run.add_argument("--mem", metavar="M", default="3G", help="memory of each (default: %(default)s)")
    number("--cpus", metavar="N", help="CPUs of each (default: as many as here, at most 2)")
    number("--timeout", metavar="S", default=1800, help="in seconds (default: %(default)s)")
    run.add_argument("--out", metavar="DIR", type=pathlib.Path, help="folder for results")
    flag("--quiet", help="say nothing about progress")
    run.add_argument("command", metavar="COMMAND", nargs="+", help="what to run; put -- before it")


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def run(options):
    check(options)
    with contextlib.ExitStack() as stack:
        stack.enter_context(cache.locked())
        job = Job(options.command, options.timeout, out_folder(options.out, stack), systemd=options.systemd)
        if options.native:
            return native.run(job)
        return run_in_machine(job, options)


def run_in_machine(job, options):
    ready = image.ready()
    settings = accelerator.choose(ready, options.count_instructions, cpus(options), options.mem)
    Progress.say(f"booting Linux {ready.version} ({'two machines, each ' if options.nodes > 1 else ''}{settings})")
    run_once = functools.partial(machine.run, ready, job, settings, options.nodes)
    return run_when_ready(run_once, job, options.nodes)


def run_when_ready(run_once, job, nodes):
    """An emulated machine may stand still while it boots, about once in two hundred times, or just be slow. Its job has
    not begun then."""
    for boot, seconds in enumerate(BOOT_SECONDS, 1):
        try:
            return run_once(seconds)
        except GuestError as error:
            for which in ("", machine.PEER)[:nodes]:
                machine.show_console_tail(job, which)
            if boot == len(BOOT_SECONDS) or not isinstance(error, NotReady):
                raise
            warn(f"{error}; starting it anew")


def check(options):
    if options.nodes > 2:
        raise LabError("a lab has at most two machines: --nodes 2")
    if options.nodes == 2 and (options.native or options.count_instructions):
        raise LabError("--nodes 2 goes neither with --native nor with --count-instructions, whose clocks differ")
    if options.count_instructions and (options.native or options.cpus not in (None, 1)):
        raise LabError("--count-instructions needs a virtual machine with one CPU")
    if options.systemd and options.native:
        raise LabError("--systemd needs a virtual machine; leave out --native")
    if options.systemd and not SYSTEMD.exists():
        raise LabError(f"not installed: {SYSTEMD}; run tools/install-deps")


def cpus(options):
    return options.cpus or min(2, os.cpu_count() or 1)


def out_folder(wanted, stack):
    if wanted is None:
        return pathlib.Path(stack.enter_context(cache.temporary_folder()))
    wanted.mkdir(parents=True, exist_ok=True)
    return wanted.resolve()


def prepare(options):
    with cache.locked():
        ready = image.prepare()
        if options.siw:
            siw.add(ready)
    Progress.say(f"ready: Linux {ready.version} in {cache.folder()}")
    return 0


def clean(_):
    with cache.locked():
        cache.remove()
    return 0


def end_on_signal(number, _frame):
    # The clean-up that follows must not be interrupted.
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Ended(EXIT_SIGNAL_BASE + number, f"ended by {signal.Signals(number).name}")


def handle_signals():
    for number in SIGNALS:
        # Under nohup, SIGHUP is ignored and stays so. A shell's & ignores SIGINT only for job control.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end_on_signal)


def open_missing_streams():
    """The caller may have closed some streams; the first files that we open must not take their numbers."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        pass
    os.close(descriptor)
    sys.stderr = sys.stderr or open(STDERR, "w", encoding="utf-8")


def main(arguments=None):
    open_missing_streams()
    options = parse(arguments)
    Progress.quiet = options.quiet
    handle_signals()
    try:
        return {"run": run, "prepare": prepare, "clean": clean}[options.action](options)
    except Ended as end:
        warn(end)
        return end.status
    except (LabError, OSError) as error:
        warn(error)
        return EXIT_LAB_FAILED
