# SPDX-License-Identifier: BSD-2-Clause
"""Programs that start from templates, beside the same programs executed: plainly, and with a lease (in the note)."""

import contextlib
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import session
from products import ROOT

from . import needed, warm
from .results import figures, row
from .say import say

READY_SECONDS = 30
PYTHON = os.path.realpath("/usr/bin/python3")
FUNCTION = ROOT / "bench" / "function.py"
MODULES = "numpy,pyverbs.device,pyverbs.qp,pyverbs.wr"
MODULE = ROOT / "src" / "template" / "python"
SIZES_MB = (10, 100, 500)
WAYS = ("plain", "warm", "client", "launcher")
STARTS = 200
IMPORTED = f"""import runpy, {MODULES}, function, warmverbs_template
from bench import template
print(*template.own_files(), sep=chr(10))
"""
PRIVATE = re.compile(r"^Private_(?:Clean|Dirty): +(\d+) kB$", re.MULTILINE)


class Template:
    """Of a program on a node, in its warm environment. `command` starts the program; the two parts of `make`, around
    the socket, a template of it."""

    def __init__(self, node, command, make, environment):
        self.node, self.words, self.make = node, command, make
        self.variables = environment

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="warmverbs-template-")
        self.socket = pathlib.Path(self.folder.name, "socket")
        self.process = subprocess.Popen(
            [*self.make[0], "--socket", self.socket, *self.make[1]],
            env=self.node.environment("warm", **self.variables),
            stdin=subprocess.DEVNULL,
        )
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    def children(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return list(map(int, text.split()))

    def settle(self):
        """Until a child waits; the template itself is another child of its supervisor."""
        session.wait_until(
            lambda: self.process.poll() is not None or len(self.children()) > 1,
            READY_SECONDS,
            lambda: "the template makes no children",
        )
        if self.process.poll() is not None:
            raise session.SessionError("there is no template, see above")

    def command(self, way):
        launched, client = self.node.products.bench("launched"), self.node.products.template("warmverbs-start")
        options = {
            "client": [client, "--socket", self.socket],
            "launcher": ["-s", self.socket],
        }
        return [launched, *options.get(way, []), *self.words]

    def once(self, way):
        self.settle()
        mode = "plain" if way == "plain" else "warm"
        # With the reason on its output, a program that was executed fails here.
        return figures(self.node.run(self.command(way), mode, WARMVERBS_VERBOSE=1, **self.variables))


def of_program(node, program):
    return Template(node, [program], [[node.products.template("warmverbs-template")], ["--", program]], {})


def measure(products, runs, suffix=""):
    program = products.bench("contained")
    with warm.node_apart(products, lambda: [program, *products.templates(), *own_files()]) as node:
        node.run([program], "warm")  # recorded
        rows = both(node, runs, of_program(node, program), "")
    return [{**each, "name": each["name"] + suffix} for each in rows]


def measure_python(products, runs, suffix=""):
    has_numpy = not subprocess.run([PYTHON, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False).returncode
    needed.check({}, [] if has_numpy else ["python3-numpy"])
    folder = products.template("")
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": folder,
        "PYTHONPATH": MODULE,
        "PYTHONDONTWRITEBYTECODE": 1,
    }
    command, make = [PYTHON, FUNCTION], [[PYTHON, "-m", "warmverbs_template"], ["--import", MODULES, FUNCTION]]
    with warm.node_apart(products, lambda: [*products.templates(), *python_files(), *own_files()]) as node:
        node.run(command, "warm", **environment)
        rows = both(node, runs, Template(node, command, make, environment), "python_")
    return [{**each, "name": each["name"] + suffix} for each in rows]


def own_files():
    """What this process has imported."""
    found = [getattr(module, name, None) for module in sys.modules.values() for name in ("__file__", "__cached__")]
    return list(map(pathlib.Path, (sys.executable, *filter(None, found))))


def python_files():
    """What the function and its template import."""
    said = subprocess.run([PYTHON, "-c", IMPORTED], stdout=subprocess.PIPE, check=True, text=True,
                          env={**os.environ, "PYTHONPATH": f"{MODULE}:{FUNCTION.parent}:{ROOT / 'tools' / 'lib'}",
                               "PYTHONDONTWRITEBYTECODE": "1"}).stdout
    return list(map(pathlib.Path, said.splitlines()))


def both(node, runs, template, prefix):
    with template:
        samples = warm.interleave(node, runs, template.once, WAYS)
        memory = waiting_memory(template)
    rows = [
        compared(f"{prefix}{way}_{what}", samples, way, what)
        for way in ("client", "launcher")
        for what in ("first_completion", "end")
    ]
    return [*rows, row(f"{prefix}memory", warm=[memory], unit="KB", note="of a waiting child's own")]


on_model_a = functools.partial(measure, suffix="_a")
python_on_model_a = functools.partial(measure_python, suffix="_a")


def compared(name, samples, way, what):
    plain, today, ready = ([each[what] / 1000 for each in samples[side]] for side in ("plain", "warm", way))
    made = row(name, plain=plain, warm=ready)
    lease = row(name, plain=today, warm=ready)
    return {**made, "today": lease["plain"], "note": f"with a lease {lease['plain']:,.1f}, {lease['ratio']:.2f} : 1"}


def waiting_memory(template):
    """KB that one child has for itself; the kernel's own are not counted."""
    template.settle()
    youngest = template.children()[-1]  # the kernel has them in the order in which they were made
    rollup = pathlib.Path(f"/proc/{youngest}/smaps_rollup").read_text()
    return sum(map(int, PRIVATE.findall(rollup)))


class Bare:
    """In place of a node: programs that need no device, and no daemon."""

    def __init__(self, products):
        self.products = products

    @staticmethod
    def environment(_, **variables):
        return {**os.environ, **variables}


@contextlib.contextmanager
def one_processor():
    """For this process and those that it starts meanwhile."""
    all_processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(all_processors)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_processors)


def starts(products, runs):
    """Of a program that writes to 20 pages, one after the other; its template, too, has only this processor."""
    program, launcher = products.bench("touching"), products.bench("launched")
    held = warm.apart(lambda: [program, launcher, *products.templates(), *own_files()])
    with held, one_processor(), of_program(Bare(products), program) as template:
        template.settle()
        plain, ready = zip(*([started_often(template, way) for way in ("plain", "launcher")] for _ in range(runs)))
        memory = waiting_memory(template)
    each = row("starts", plain=plain, warm=ready, unit="starts/s", memory_kb=memory)
    return [{**each, "ratio": round(each["warm"] / each["plain"], 3), "note": f"a waiting child has {memory} KB"}]


def started_often(template, way):
    """Starts a second."""
    command = [*template.command(way)[:-1], "-n", str(STARTS), *template.words]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return figures(said)["starts_in_1000_s"] / 1000


def forks(products, _):
    """fork() of a process that has used so much memory, plainly and as a template."""
    rows = []
    for size in SIZES_MB:
        times = {way: forked(products, size, way) for way in ("plain", "template")}
        rows.append(row(f"fork_{size}MB", plain=[times["plain"]], warm=[times["template"]]))
        say(f"{size} MB")
    return rows


def forked(products, size, way):
    """Microseconds."""
    command = [products.bench("forked"), str(size), way]
    return figures(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)["fork"] / 1000
