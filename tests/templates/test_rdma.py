#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""RDMA programs that start from templates: with leases of their own, and as plainly without."""

import os
import pathlib
import subprocess

import template
from python_template import MODULE, PYTHON
from support import bed, cases, trace

FUNCTION = """\
import sys
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.pd import PD
with Context(name=get_device_list()[0].name.decode()) as context, PD(context) as pd, CQ(context, 16) as cq:
    print(sys.argv[1:], cq.cqe)
"""
MOST_UNREADY = 20
WORDS = "open pd cq qp:rc move:init move:rtr,rts,all traffic"


class Rdma(bed.Case):
    def template(self, program=bed.WORDS, **env):
        """Knows no words yet."""
        made = template.Template(self.folder, program, env=bed.environment(
            program, True, {"WARMVERBS_SOCKET": str(self.daemon.socket), **env}))
        self.addCleanup(made.stop)
        return made.await_ready()

    def from_template(self, made):
        return {"prefix": [template.CLIENT, "--socket", made.socket], "env": {"WARMVERBS_VERBOSE": "1"}}

    def started(self, run, *args, **kwargs):
        """The result of a run that comes from a template: no child may answer in time, on a busy machine."""
        for _ in cases.attempts():
            result = run(*args, **kwargs)
            if template.TOO_LATE not in result.errors:
                break
        self.assertEqual(result.errors, "")
        return result

    def test_lease(self):
        """By its own arguments and settings, not by those of the template."""
        self.learn(WORDS)
        made = self.template()
        started = self.started(self.run_leased, WORDS, **self.from_template(made))
        self.assertEqual(started.shape(), self.run_plain(WORDS).shape())
        self.assertGreater(len(started.adopted), 5)

    def test_learns(self):
        """A start is recorded, and its lease serves a program that is executed, and the other way round."""
        made = self.template()
        self.learn(WORDS, **self.from_template(made))
        self.assertEqual(self.run_leased(WORDS).errors, "")

    def test_python(self):
        """pyverbs is imported once, and each start has a lease."""
        script, socket = self.folder / "function.py", self.folder / "template"
        script.write_text(FUNCTION, encoding="utf-8")
        env = {"PATH": f"{template.BUILD / 'src/template'}:{os.environ['PATH']}", "PYTHONPATH": str(MODULE),
               "PYTHONDONTWRITEBYTECODE": "1", "WARMVERBS_VERBOSE": "1"}
        supervisor = subprocess.Popen(
            [PYTHON, "-m", "warmverbs_template", "--socket", socket, "--import", "pyverbs.cq", script],
            env=bed.environment(PYTHON, True, {"WARMVERBS_SOCKET": str(self.daemon.socket), **env}))
        self.addCleanup(supervisor.wait)
        self.addCleanup(supervisor.terminate)
        bed.until(lambda: len(template.children(supervisor.pid)) > 1, "ready children")
        how = {"program": PYTHON, "env": env}
        self.learn([str(script), "1"], prefix=[template.CLIENT, "--socket", str(socket)], **how)
        started = self.started(self.run_leased, [str(script), "1"],
                               prefix=[template.CLIENT, "--socket", str(socket)], **how)
        self.assertEqual(started.shape(), self.run_plain([str(script), "1"], **how).shape())
        self.assertGreaterEqual(len(started.adopted), 3)

    def preforked(self, made, words, **kwargs):
        """Runs a program from the template until it finds its objects ready: the children that wait now may have been
        made before one has shown which."""
        for _ in range(MOST_UNREADY):
            result = self.started(self.run_warm, words, **self.from_template(made), **kwargs)
            if trace.opens(result.events, trace.PREFORKED):
                return result
        raise AssertionError(f"no objects were ready: {result.events}")

    def test_ready_objects(self):
        """A start finds what earlier ones have used, and gives no command for it."""
        self.learn(WORDS)
        ready = self.preforked(self.template(WARMVERBS_NAME=self.name), WORDS)
        self.assertEqual(ready.shape(), self.run_plain(WORDS).shape())
        self.assertEqual([str(event) for event in ready.events if event.makes], [])

    def unready(self, how, words=WORDS, **kwargs):
        """A start that does not use the objects that are ready, and has the same result as if it were executed."""
        made = self.template(WARMVERBS_NAME=self.name)
        self.preforked(made, WORDS)
        env = {**self.from_template(made)["env"], **kwargs.pop("env", {})}
        # The second one comes to a child that has waited since before the first.
        for _ in range(2):
            started = self.started(self.run_warm, words, **{**self.from_template(made), "env": env}, **kwargs)
            self.assertEqual((how, started.shape()), (how, self.run_plain(words, env=env, **kwargs).shape()))
        return started

    def test_other_objects(self):
        """A start that wants others than earlier ones makes them itself."""
        self.unready("others", "open pd cq:8 pd qp:ud")
        self.unready("none", "")
        self.unready("in a child", "fork open pd cq qp:rc move:init move:rtr,rts,all traffic")

    def test_other_settings(self):
        """Objects are of no use that were made with other variables than the start's."""
        for name, value in (("WARMVERBS_LEASE", "0"), ("WARMVERBS_DISABLE", "1")):
            started = self.unready(name, env={name: value})
            self.assertEqual((name, trace.opens(started.events, trace.PREFORKED)), (name, []))

    def test_variables(self):
        """Of libibverbs and the provider: a client that has others executes the program."""
        made = self.template(WARMVERBS_NAME=self.name)
        self.preforked(made, WORDS)
        how = self.from_template(made)
        for name in "MLX5_SHUT_UP_BF", "RDMAV_FORK_SAFE":
            plain = self.run_plain(WORDS, env={name: "1"}).shape()
            for _ in range(MOST_UNREADY):
                started = self.run_warm(WORDS, **{**how, "env": {**how["env"], name: "1"}})
                self.assertEqual((name, started.shape()), (name, plain))
                if f"has read {name}, which differs" in started.errors:
                    break
            else:
                self.fail(f"never executed for {name}: {started.errors}")

    def test_fork_init(self):
        """It fails where objects were made before: a program that calls it has none ready."""
        words = "fork-init " + WORDS
        made = self.template(WARMVERBS_NAME=self.name)
        plain = self.run_plain(words).shape()
        for _ in range(8):
            started = self.started(self.run_warm, words, **self.from_template(made))
            self.assertEqual(started.shape(), plain)

    def test_log_file(self):
        """libibverbs keeps its log open, and nothing but a start that has one may."""
        env = {"VERBS_LOG_LEVEL": "4", "VERBS_LOG_FILE": str(self.folder / "verbs.log")}
        made = self.template(WARMVERBS_NAME=self.name, **env)
        how = self.from_template(made)
        for _ in range(8):
            started = self.started(self.run_warm, WORDS, **{**how, "env": {**how["env"], **env}})
            self.assertEqual(trace.opens(started.events, trace.PREFORKED), [])

    def test_unseen(self):
        """What a start does behind libc's back: it closes its descriptors, or has a child."""
        for words in (f"raw-close {WORDS}", f"fork:unseen,open {WORDS}"):
            self.unready(words, words)

    def test_numbers(self):
        """A start has its client's descriptors, also where those of objects are."""
        held = [os.open("/", os.O_PATH) for _ in range(100)]
        self.addCleanup(lambda: [os.close(fd) for fd in held])
        self.assertGreater(held[-1], 90)
        started = self.unready("numbers", pass_fds=held)
        self.assertEqual(trace.opens(started.events, trace.PREFORKED), [])

    def test_without_a_daemon(self):
        made = self.template()
        nowhere = {"WARMVERBS_SOCKET": str(self.folder / "nowhere")}
        started = self.started(self.run_warm, WORDS, prefix=[template.CLIENT, "--socket", made.socket],
                               env={"WARMVERBS_VERBOSE": "1", **nowhere})
        self.assertEqual(started.shape(), self.run_plain(WORDS).shape())
        self.assertEqual(started.leased, 0)

    def test_provider_is_loaded(self):
        """Before the start: it opens no library any more."""
        made = self.template()
        maps = pathlib.Path(f"/proc/{template.children(made.process.pid)[0]}/maps").read_text(encoding="utf-8")
        self.assertIn("libmlx5", maps)


if __name__ == "__main__":
    template.main()
