# SPDX-License-Identifier: BSD-2-Clause
"""What each verb costs on the device that is there: bench/verbs.c, with plain verbs. It needs a compiler, libibverbs
and the right to use the device, and nothing else of warmverbs."""

import atexit
import collections
import ctypes
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import tempfile

import session
from products import ROOT, BuildError, Products

from . import connecting, device, pairs, warm
from .results import aligned, row
from .say import say

SOURCES = ("verbs", "making", "start", "loopback", "measure")
COMPILE = ("cc", "-std=gnu17", "-D_GNU_SOURCE", "-O2")
GROUPS = (("device",), ("mr",), ("cq",), ("srq",), ("rc",), ("-q", "256", "rc"), ("ud",))
GROUPS_OF = {"mlx5_core": (("dci",), ("dct",))}
MOST_CQES = "max_cqe"
# The columns of the Markdown row, and the measured calls that they show.
COLUMNS = {
    "first list": "get_device_list, first",
    "list": "get_device_list",
    "open": "open_device",
    "PD": "alloc_pd",
    "MR 1 MB": "reg_mr 1 MB",
    "MR 256 MB": "reg_mr 256 MB",
    "untouched": "reg_mr 256 MB, untouched",
    "dereg 256 MB": "dereg_mr 256 MB",
    "CQ 256": "create_cq 256",
    "CQ 65536": "create_cq 65536",
    "SRQ": "create_srq",
    "RC": "create_qp rc",
    "INIT": "rc to INIT",
    "RTR": "rc to RTR",
    "RTS": "rc to RTS",
    "destroy RC": "destroy_qp rc",
    "UD": "create_qp ud",
    "DCI": "create_qp dci",
    "DCT to RTR": "dct to RTR",
    "destroy CQ 256": "destroy_cq 256",
    "close": "close_device",
}
CMTIME_PORT = 7471
CMTIME_SECONDS = 60


def build():
    """Only the program that measures: whoever has an adapter need not be able to build warmverbs."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="warmverbs-bench-"))
    atexit.register(shutil.rmtree, folder)
    built = Products(folder)
    built.bench("verbs").parent.mkdir()
    sources = [ROOT / "bench" / f"{name}.c" for name in SOURCES]
    command = [*COMPILE, "-o", built.bench("verbs"), *sources, "-libverbs", "-ldl"]
    if not shutil.which(COMPILE[0]) or subprocess.run(command, check=False).returncode:
        raise BuildError("bench/verbs.c needs a C compiler and libibverbs-dev, which others call rdma-core-devel")
    return built


def measure(products, runs):
    if not folder().exists():
        raise session.SessionError(f"there is no RDMA device {device.name()}")
    warm.hold([products.bench("verbs")])
    groups = [*GROUPS, *GROUPS_OF.get(driver(), ())]
    samples, refused = collections.defaultdict(list), {}
    for run in range(runs):
        for group in groups:
            output, refused[" ".join(group)] = call(products, group)
            for name, values in connecting.figures(output).items():
                samples[name] += values
        say(f"run {run + 1} of {runs}")
    if not samples:
        raise session.SessionError(f"{device.name()} cannot be used: {refused[groups[0][0]]}")
    return list(rows(samples, refused))


def call(products, group):
    """What one process prints of its calls, and what it could not do."""
    command = [products.bench("verbs"), "-d", device.name(), "-g", gid(), *group]
    environment = {**os.environ, "WARMVERBS_DISABLE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr.strip() if done.returncode else ""


def rows(samples, refused):
    most = samples.pop(MOST_CQES, [None])[0]
    for name, values in samples.items():
        times = [value / 1000 for value in values]
        tenths = [round(each, 3) for each in statistics.quantiles([*times, times[-1]], n=10)]
        note = f"of {most:,} entries" if MOST_CQES in name else ""
        yield row(name, plain=times, calls=len(times), tenths=tenths, note=note)
    for group, why in refused.items():
        if why:
            yield row(f"group {group}", note=f"ended: {why}")


def gid():
    """A GID to connect to: on RoCE, one that every network stack reaches; elsewhere the port's first."""
    try:
        return device.address()[0]
    except session.SessionError:
        return "0"


def folder():
    return device.CLASS / device.name()


def driver():
    """The kernel driver of the adapter, or what a device without one is."""
    link = folder() / "device" / "driver"
    return link.resolve().name if link.exists() else "software"


def read(name):
    try:
        return (folder() / name).read_text().strip()
    except OSError:
        return ""


def facts(measured):
    """What the figures depend on, what rdma-core's own program says of connecting, and a row for the table of many."""
    found = machine()
    return {"machine": found, "cmtime": cmtime(), "markdown": markdown(found, measured)}


def machine():
    return {
        "device": device.name(),
        "driver": driver(),
        "board": read("board_id"),
        "firmware": read("fw_ver"),
        "link": read("ports/1/link_layer"),
        "kernel": platform.release(),
        "rdma-core": rdma_core(),
        "processor": processor(),
        "processors": os.cpu_count(),
    }


def rdma_core():
    """Its version is the end of the name of its library."""
    ctypes.CDLL("libibverbs.so.1")
    found = re.search(r"libibverbs\.so\.1\.\d+\.([\d.]+)", pathlib.Path("/proc/self/maps").read_text())
    return found[1] if found else ""


def processor():
    found = re.search(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def cmtime():
    """What cmtime prints, line by line, on an address of the device; or why it did not run."""
    if not shutil.which("cmtime"):
        return ["cmtime is not installed"]
    address = ip_address()
    if not address:
        return [f"cmtime: {device.name()} has no IPv4 address"]
    server = subprocess.Popen(["cmtime"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    try:
        session.wait_until(
            lambda: server.poll() is not None or pairs.rdma_listening(CMTIME_PORT),
            pairs.LISTEN_SECONDS,
            lambda: "cmtime does not listen",
        )
        client = ["cmtime", "-s", address]
        return subprocess.run(
            client, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=CMTIME_SECONDS
        ).stdout.splitlines()
    except (session.SessionError, subprocess.SubprocessError, OSError) as error:
        return [f"cmtime: {error}"]
    finally:
        server.kill()
        server.wait()


def ip_address():
    """The first IPv4 address of the network interface of the device."""
    links = ip("rdma", "link")
    names = [link.get("netdev") for link in links if link["ifname"] == device.name()]
    names += [each.name for each in (folder() / "device" / "net").glob("*")]
    found = [address["local"] for name in names if name for address in inet(name)]
    return found[0] if found else None


def inet(interface):
    return [each for link in ip("ip", "-4", "address", "show", "dev", interface) for each in link.get("addr_info", ())]


def ip(program, *words):
    """What a program of iproute2 answers; nothing where it cannot."""
    try:
        output = subprocess.run([program, "-j", *words], capture_output=True, check=True).stdout
        return json.loads(output or "[]")
    except (OSError, subprocess.CalledProcessError):
        return []


def show(result):
    lines = [("", "median", "9 of 10 within", "calls", "")]
    lines += [(each["name"], *figures(each), each["note"]) for each in result["rows"]]
    machine_ = ", ".join(f"{name} {value}" for name, value in result["machine"].items() if value)
    heading = f"verbs: us, {result['runs']} runs; {machine_}"
    return "\n".join([heading, *aligned(lines), "", *result["cmtime"], "", *result["markdown"]])


def figures(each):
    if each["plain"] is None:
        return "-", "-", "-"
    return short(each["plain"]), short(each["tenths"][-1]), str(each["calls"])


def markdown(found, measured):
    """Heading and row of a table with one line for each machine."""
    medians = {each["name"]: each["plain"] for each in measured}
    adapter = ", ".join(found[name] for name in ("driver", "board", "firmware") if found[name])
    first = [f"{found['device']}: {adapter}", found["kernel"], found["rdma-core"], found["processor"]]
    times = [short(medians[name]) if medians.get(name) else "-" for name in COLUMNS.values()]
    headings = ["device", "kernel", "rdma-core", "processor", *COLUMNS]
    return [line(headings), line(["---"] * len(headings)), line(first + times)]


def line(cells):
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def short(microseconds):
    """Three digits that mean something."""
    return f"{microseconds:,.0f}" if microseconds >= 100 else f"{microseconds:.3g}"
