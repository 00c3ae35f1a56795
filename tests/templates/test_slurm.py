#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tasks of Slurm that start from templates. The steps of this Slurm have no cgroups of their own."""

import os
import pathlib
import select
import shutil
import subprocess
import tempfile

import template
from support import cases, slurm
from template import CLIENT, until

TASKS = 4


class Slurm(template.Case):
    @classmethod
    def setUpClass(cls):
        slurm_folder = pathlib.Path(tempfile.mkdtemp(prefix="template.slurm."))
        cls.addClassCleanup(shutil.rmtree, slurm_folder)
        cls.cluster = slurm.Cluster(slurm_folder, "")
        cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        super().setUp()
        self.templates = self.folder / "templates"
        self.addCleanup(template.end_supervisors, self.templates)
        until(lambda: self.run_step("echo $PPID").stderr == "", "a start from a template")
        [self.supervisor] = template.supervisors(self.templates)

    def step(self, script, n=1, **kwargs):
        environment = {"WARMVERBS_TEMPLATES": str(self.templates), "WARMVERBS_VERBOSE": "1"}
        return subprocess.Popen(
            [slurm.find("srun"), f"--ntasks={n}", f"--job-name={self.id()}", CLIENT, "/bin/sh", "-c", script],
            env=self.cluster.environment(environment), cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True, **kwargs)

    def run_step(self, script, n=1, text=""):
        step = self.step(script, n, stdin=subprocess.PIPE)
        out, err = step.communicate(text, template.LIMIT_S)
        return subprocess.CompletedProcess(step.args, step.returncode, out, err)

    def test_tasks(self):
        """Each has its own environment, and Slurm has the status of each."""
        for _ in cases.attempts():
            result = self.run_step('echo "$SLURM_PROCID $PPID"; exit $SLURM_PROCID', TASKS)
            if template.TOO_LATE not in result.stderr:
                break
        self.assertEqual(sorted(result.stdout.splitlines()), [f"{task} {self.supervisor}" for task in range(TASKS)])
        self.assertEqual(result.returncode, TASKS - 1, result.stderr)
        for task in range(1, TASKS):
            self.assertIn(f"task {task}: Exited with exit code {task}", result.stderr)

    def test_input(self):
        result = self.run_step('read line; echo "$line"', text="word\n")
        self.assertEqual((result.returncode, result.stdout), (0, "word\n"))

    def test_cancelled(self):
        step = self.step("echo $$; exec sleep 1000", stdin=subprocess.DEVNULL)
        self.addCleanup(step.communicate)
        self.addCleanup(step.kill)
        task = os.pidfd_open(int(step.stdout.readline()))
        self.addCleanup(os.close, task)
        self.cluster.run("scancel", "--name", self.id())
        self.assertTrue(select.select([task], [], [], template.LIMIT_S)[0])
        self.assertNotEqual(step.wait(template.LIMIT_S), 0)


if __name__ == "__main__":
    template.main(slurm.why_not())
