#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Steps of Slurm, whose tasks are started by the plugin of Slurm, on the stand-in HCA."""

import itertools
import pathlib
import shutil
import signal
import unittest

from support import bed, cases, slurm

PLUGIN = bed.BUILD / "src/slurm/spank_warmverbs.so"
ROOT, NOBODY = 0, 65534
TASKS = 4
SMALL = "at:start open pd cq qp:rc move:init"


def why_not():
    if not PLUGIN.exists():
        return "the plugin was not built: apt install libslurm-dev, then meson setup --reconfigure"
    if bed.SANITIZED:
        return "Slurm puts the preload in front of what a sanitizer wants to be first"
    return slurm.why_not()


class Steps(bed.Case):
    daemon_options = ("--group", "nogroup")  # unprivileged programs may connect

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Copies that other users can read, wherever the build is.
        for name in ("WORDS", "PRELOAD", "STANDIN"):
            copy = cls.folder / pathlib.Path(getattr(bed, name)).name
            shutil.copy(getattr(bed, name), copy)
            copy.chmod(0o755)
            setattr(cls, name.lower(), str(copy))
        (cls.folder / "slurm").mkdir()
        cls.plugin = f"required {PLUGIN} library={cls.preload} socket={cls.daemon.socket}"
        cls.cluster = slurm.Cluster(cls.folder / "slurm", cls.plugin, nodes=2)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()
        super().tearDownClass()

    def step(self, words, *options, n=1, program=None, user=ROOT, environment=None):
        """Starts a step of @n tasks; they take what the stand-in and their own daemon need from the environment."""
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        return self.start(
            words, False, program=program or self.words, standin=self.standin, cwd="/",
            prefix=[*as_user, slurm.find("srun"), f"--ntasks={n}", f"--job-name={self.name}", *options],
            env=self.cluster.environment({"WARMVERBS_SOCKET": str(self.daemon.socket), "WARMVERBS_NAME": self.name,
                                          **(environment or {})}))

    def run_step(self, *args, **kwargs):
        return self.step(*args, **kwargs).finish()

    def learn_step(self, user=ROOT):
        """Runs a step of one task until the daemon has a lease for the next."""
        for _ in cases.attempts(free=1):
            result = self.run_step(SMALL, user=user)
            self.assertEqual(result.status, 0, result.errors)
            if self.recipe(user):
                break
        bed.until(lambda: self.requested(user) == 0, "the request ends with the step")
        self.daemon.await_ready(self.name)

    def start_requesting(self, *options, most=TASKS, user=ROOT):
        """Starts a step whose tasks wait before they open the device, and whose requests have reached the daemon; a
        node has at @most so many tasks."""
        for _ in cases.attempts():
            step = self.step(SMALL, *options, n=TASKS, user=user)
            for _ in range(TASKS):
                step.reach("start")
            if self.requested(user) == most:
                return step
            step.finish()
        raise AssertionError(f"no request in {cases.PATIENCE} steps or more: {self.recipe(user)} {self.cluster.logs()}")

    def run_leased_step(self, *options, most=TASKS, user=ROOT):
        """Runs a step, for whose tasks there are leases before they open the device, until each task got one."""
        for _ in cases.attempts():
            step = self.start_requesting(*options, most=most, user=user)
            self.daemon.await_ready(self.name)
            before = self.recipe(user)
            self.assertGreaterEqual(before["pool"]["ready"], most)
            result = step.finish()
            self.assertEqual(result.status, 0, result.errors)
            after = self.recipe(user)
            if after["counters"]["hits"] == before["counters"]["hits"] + TASKS:
                return
        raise AssertionError(f"less than {TASKS} leases in {cases.PATIENCE} steps or more: {after}")

    def recipe(self, user=ROOT):
        """The recipe of this case and that user; None: there is none."""
        recipes = [recipe for recipe in self.daemon.recipes(self.name) if recipe["uid"] == user]
        self.assertLessEqual(len(recipes), 1)
        return recipes[0] if recipes else None

    def requested(self, user=ROOT):
        return self.recipe(user)["pool"]["requested"]

    def preloaded(self, before, *options):
        """LD_PRELOAD of a task whose user has set it to @before."""
        step = self.step([], *options, program=shutil.which("env"), environment={"LD_PRELOAD": before})
        step.process.wait(bed.LIMIT_S)
        return [line.partition("=")[2] for line in step.finish().lines if line.startswith("LD_PRELOAD=")]

    def test_a_lease_for_each_task(self):
        """The leases are ready before the tasks open the device, though one task only has run before."""
        self.learn_step()
        before = self.recipe()
        self.assertEqual((before["pool"]["requested"], before["pool"]["target"]), (0, 1))
        self.run_leased_step()
        counters = self.recipe()["counters"]
        self.assertEqual((counters["misses"], counters["diverged"]), (before["counters"]["misses"], 0))
        bed.until(lambda: self.requested() == 0, "the request ends with the step")

    def test_two_nodes(self):
        """The plugin in each slurmd requests what the tasks of its node need. The two nodes have one daemon here, for
        which the largest request counts."""
        self.learn_step()
        self.run_leased_step("--nodes=2", "--distribution=plane=3", most=3)
        for node, tasks in zip(self.cluster.nodes, (3, 1)):
            self.assertIn(f"warmverbs: {tasks} leases requested for {self.words}", self.cluster.log(node))
        bed.until(lambda: self.requested() == 0, "the requests end with the step")

    def test_a_program_in_a_folder_of_path(self):
        """Slurm starts it with another argv[0] than the user has typed."""
        bed.os.symlink(self.words, self.folder / self.name)
        path = {"PATH": f"/usr/bin:/nonexistent:{self.folder}:/bin"}
        for _ in cases.attempts(free=2):
            step = self.step(SMALL, program=self.name, environment=path)
            step.reach("start")
            if self.recipe() and self.requested() == 1:
                break
            self.assertEqual(step.finish().status, 0)
        self.assertEqual(self.requested(), 1)

    def test_a_cancelled_step(self):
        self.learn_step()
        step = self.start_requesting()
        self.cluster.run("scancel", "--name", self.name)
        step.process.wait(bed.LIMIT_S)
        step.close()
        self.assertNotEqual(step.process.returncode, 0)
        bed.until(lambda: self.requested() == 0, "the request ends with the step")

    @unittest.skipUnless(bed.ALL_MAY_READ, "other users may not read this folder")
    def test_another_user(self):
        """The same program with the same name, but the request of a user's step is for that user's recipe."""
        self.learn_step()
        root = self.recipe()
        self.learn_step(NOBODY)
        step = self.start_requesting(user=NOBODY)
        self.assertEqual(self.requested(), 0)
        step.finish()
        self.run_leased_step(user=NOBODY)
        self.assertEqual(self.recipe()["counters"], root["counters"])

    def test_no(self):
        self.learn_step()
        before = self.recipe()["counters"]
        result = self.run_step(SMALL, "--warmverbs=no", n=TASKS)
        self.assertEqual(result.status, 0, result.errors)
        self.assertEqual(self.recipe()["counters"], before)

    def test_the_list_of_preloaded_libraries(self):
        """What the user preloads stays; the library is there once, or not at all."""
        others = f"{self.standin}:/nonexistent/one.so"
        self.assertEqual(self.preloaded(others.replace(":", " ")), [f"{self.preload}:{others}"])
        self.assertEqual(self.preloaded(f"{self.standin}:{self.preload}:/nonexistent/one.so"),
                         [f"{self.preload}:{others}"])
        self.assertEqual(self.preloaded(f"{self.preload}:{others}", "--warmverbs=no"), [others])
        self.assertEqual(self.preloaded(self.preload, "--warmverbs=no"), [])
        too_long = ":".join(["/nonexistent/library.so"] * 2000)
        self.assertEqual(self.preloaded(too_long), [too_long])

    def test_arguments_of_the_plugin(self):
        for more, preloaded in (("default=no", [self.standin]), ("nonsense=1", [f"{self.preload}:{self.standin}"]),
                                ("library=/nonexistent/library.so", [self.standin])):
            with self.subTest(more):
                self.cluster.load(f"{self.plugin} {more}")
                self.addCleanup(self.cluster.load, self.plugin)
                self.assertEqual(self.preloaded(self.standin), preloaded)
        self.cluster.load(f"{self.plugin} default=no")
        self.assertEqual(self.preloaded(self.standin, "--warmverbs=yes"), [f"{self.preload}:{self.standin}"])

    def test_the_exit_status(self):
        for status in (0, 7):
            with self.subTest(status):
                result = self.run_step(f"open pd exit:status={status}", n=2)
                self.assertEqual(result.status, status, result.errors)

    def test_what_is_no_program(self):
        """The tasks run; what a script starts has the library too."""
        script = self.folder / "script"
        script.write_text(f"#!/bin/sh\nexec {self.words} open pd\n")
        script.chmod(0o755)
        for _ in cases.attempts(free=1):
            result = self.run_step([], program=str(script))
            self.assertEqual(result.status, 0, result.errors)
            if self.recipe():
                break
        self.assertIsNotNone(self.recipe(), "what the script starts is recorded")
        self.assertIn(f"no leases requested for {script}: Exec format error", self.cluster.logs())

    def test_an_option_that_is_wrong(self):
        result = self.run_step(SMALL, "--warmverbs=perhaps")
        self.assertNotEqual(result.status, 0)
        self.assertIn("--warmverbs=perhaps: say yes or no", result.errors)

    def test_a_daemon_that_does_not_answer(self):
        self.learn_step()
        bed.os.kill(self.daemon.pid, signal.SIGSTOP)
        try:
            result = self.run_step(SMALL, n=TASKS)
        finally:
            bed.os.kill(self.daemon.pid, signal.SIGCONT)
        self.assertEqual((result.status, result.failures), (0, []), result.errors)

    def test_no_daemon(self):
        self.daemon.stop()
        try:
            result = self.run_step(SMALL, n=TASKS)
        finally:
            self.daemon.start()
        self.assertEqual((result.status, result.failures), (0, []), result.errors)

    @unittest.skipIf(slurm.why_no_mpi(), slurm.why_no_mpi())
    def test_mpi(self):
        """The tasks find each other with the library preloaded, on one node and on two; over TCP, since the
        stand-in connects no processes."""
        tcp = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo"}
        for options in itertools.product(("--nodes=1", "--nodes=2"), ("--warmverbs=no", "--warmverbs=yes")):
            with self.subTest(options):
                result = self.run_step(["-u", "64", "-n", "5", "-o", "/dev/null"], "--mpi=pmix", *options, n=2,
                                       program=shutil.which("NPopenmpi"), environment=tcp)
                self.assertEqual(result.status, 0, result.errors)

    def test_a_batch_script(self):
        """Its steps are served, and so is what it starts itself; --warmverbs=no of the job holds for its steps."""
        script = self.folder / "batch"
        script.write_text("#!/bin/sh\necho script $LD_PRELOAD\nsrun sh -c 'echo step $LD_PRELOAD'\n"
                          "srun --warmverbs=no sh -c 'echo without $LD_PRELOAD'\n")
        script.chmod(0o755)
        for options, library in ((), self.preload), (("--warmverbs=no",), ""):
            with self.subTest(options):
                out = self.folder / f"batch{len(options)}"
                self.cluster.run("sbatch", f"--output={out}", "--error=/dev/null", *options, str(script))
                bed.until(lambda: out.exists() and "without" in out.read_text(), f"the job ends: {self.cluster.logs()}")
                self.assertEqual(out.read_text().split("\n"),
                                 [f"script {library}".rstrip(), f"step {library}".rstrip(), "without", ""])


if __name__ == "__main__":
    cases.main(why_not())
