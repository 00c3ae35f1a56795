#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the command line does as a process: environment, exit status, what it says, and its talk with a daemon.

    test_command.py WARMVERBS LIBRARY [unittest's arguments]
"""
import array
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402  (the path comes first)
from support.wire import CONTROL, HEADER as HEAD, MAGIC, VERSION  # noqa: E402

WARMVERBS = LIBRARY = None


def loaded_library():
    """A library that does no harm when it is preloaded; ours would in a sanitized build, being ahead of the runtime."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if line.rstrip().endswith("/libc.so.6"))


def run(*arguments, env=None, **options):
    how = {"capture_output": True, "text": True, "timeout": 60, "check": False, **options}
    return subprocess.run([WARMVERBS, *arguments], env=environment(env), **how)


def environment(env=None):
    """What warmverbs is started with."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("WARMVERBS_")}
    return {**inherited, "WARMVERBS_LIBRARY": loaded_library(), **(env or {})}


def environment_of_program(*options, **how):
    result = run("run", *options, "--", "env", **how)
    return dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)


class Run(unittest.TestCase):
    def test_preload_comes_first_and_keeps_others(self):
        library = environment_of_program()["LD_PRELOAD"]
        self.assertTrue(os.path.isabs(library))
        env = {"LD_PRELOAD": "libm.so.6", "ASAN_OPTIONS": "verify_asan_link_order=0"}
        both = environment_of_program(env=env)["LD_PRELOAD"]
        self.assertEqual(both, f"{library}:libm.so.6")

    def test_options_become_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            seen = environment_of_program("--no-lease", "--name", "nightly", "--socket", "s", cwd=folder)
            self.assertEqual(seen["WARMVERBS_SOCKET"], f"{os.path.realpath(folder)}/s")
        self.assertEqual((seen["WARMVERBS_LEASE"], seen["WARMVERBS_NAME"]), ("0", "nightly"))
        untouched = environment_of_program(env={"WARMVERBS_SOCKET": "/x"})
        self.assertEqual(untouched["WARMVERBS_SOCKET"], "/x")
        self.assertNotIn("WARMVERBS_LEASE", untouched)

    def test_library_beside_the_executable(self):
        seen = environment_of_program(env={"WARMVERBS_LIBRARY": "", "WARMVERBS_DISABLE": "1"})
        if seen:  # not in a sanitized build
            self.assertEqual(seen["LD_PRELOAD"], os.path.realpath(LIBRARY))

    def test_options_of_the_program_are_its_own(self):
        self.assertEqual(run("run", "echo", "--name", "-x").stdout, "--name -x\n")

    def test_exit_status(self):
        for arguments, expected in (
            (("sh", "-c", "exit 42"), 42),
            (("no-such-program",), 127),
            (("/etc/passwd",), 126),
            (("--no-such-option", "true"), 125),
            (("--name", "x" * 32, "true"), 125),
            (("--socket", "/" + "x" * 108, "true"), 125),
            ((), 125),
        ):
            with self.subTest(arguments=arguments):
                result = run("run", *arguments)
                self.assertEqual(result.returncode, expected)
                self.assertEqual(result.stderr == "", expected == 42)

    def test_missing_library_is_named(self):
        result = run("run", "true", env={"WARMVERBS_LIBRARY": "/nowhere/lib.so"})
        self.assertEqual(result.returncode, 125)
        self.assertIn("/nowhere/lib.so", result.stderr)

    def test_missing_library_in_a_container(self):
        """The image has the command line, and the hook of the container did not serve."""
        result = run("run", "true", env={"WARMVERBS_LIBRARY": "/nowhere/lib.so", "container": "podman"})
        self.assertEqual(result.returncode, 125)
        self.assertIn("--device warmverbs/rdma=all", result.stderr)

    def test_library_that_cannot_be_listed(self):
        with tempfile.TemporaryDirectory(suffix=" with a space") as folder:
            library = pathlib.Path(folder) / "lib.so"
            library.touch()
            result = run("run", "true", env={"WARMVERBS_LIBRARY": str(library)})
        self.assertEqual(result.returncode, 125)
        self.assertIn("space", result.stderr)

    def test_interpreter_is_a_fifo(self):
        """The kernel refuses to execute it, and who opens it would wait."""
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "script")
            script.write_text(f"#!{folder}/fifo\n", encoding="utf-8")
            script.chmod(0o755)
            os.mkfifo(f"{folder}/fifo", 0o755)
            with self.assertRaises(PermissionError):
                subprocess.run([script], check=False)
            self.assertEqual(run("run", script).returncode, 126)

    def test_static_program_runs_plainly(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = f"{folder}/p.c", f"{folder}/p"
            text = """
                #include <stdio.h>
                #include <stdlib.h>
                int main(void) { puts(getenv("LD_PRELOAD") ? "preload" : "plain"); }
            """
            pathlib.Path(source).write_text(text, encoding="utf-8")
            if subprocess.run(["cc", "-static", "-o", program, source], capture_output=True, check=False).returncode:
                self.skipTest("no static libc")
            result = run("run", program)
        self.assertEqual((result.returncode, result.stdout), (0, "plain\n"))
        self.assertIn("statically linked", result.stderr)


class Explain(unittest.TestCase):
    def test_keeps_streams_and_status(self):
        result = run("explain", "--", "sh", "-c", "cat; exit 3", input="through\n")
        self.assertEqual((result.returncode, result.stdout), (3, "through\n"))
        self.assertIn("no RDMA call was seen", result.stderr)

    def test_death_by_signal(self):
        self.assertEqual(run("explain", "sh", "-c", "kill -USR1 $$").returncode, 128 + signal.SIGUSR1)

    def test_output_as_json(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("explain", "--json", "--output", f"{folder}/report", "true")
            report = json.loads(pathlib.Path(folder, "report").read_text(encoding="utf-8"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(report["events"], [])
        self.assertEqual(report["summary"]["adopted"], 0)

    def test_leaves_no_trace_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("explain", "sh", "-c", "echo $WARMVERBS_TRACE", env={"TMPDIR": folder})
            self.assertTrue(result.stdout.startswith(folder))
            self.assertEqual(os.listdir(folder), [])

    def test_exit_status(self):
        for arguments, expected in (
            (("no-such-program",), 127),
            (("/etc/passwd",), 126),
            ((), 125),
            (("--output", "/nowhere/report", "true"), 125),
        ):
            with self.subTest(arguments=arguments):
                self.assertEqual(run("explain", *arguments).returncode, expected)


class Supervised(unittest.TestCase):
    """A program that runs as a child, by `run --summary` or `explain`: for who started warmverbs, it is warmverbs."""

    def start(self, script, command=("run", "--summary")):
        """Starts a script of the shell as a job of its own, and waits until it says that it is ready. The script then
        waits by "read": the kernel lets no shell stop that is making a child by vfork(2)."""
        folder = tempfile.TemporaryDirectory()  # a job that is killed leaves its trace behind
        self.addCleanup(folder.cleanup)
        # What is ignored from the start, as SIGHUP by nohup(1), a shell cannot trap.
        job = subprocess.Popen(["env", "--default-signal", WARMVERBS, *command, "--", "sh", "-c", script], text=True,
                               process_group=0, env=environment({"TMPDIR": folder.name}), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        return job

    def end(self, job):
        """The rest of the job's output, and its status. A shell that got a signal just before it began to read sees the
        signal when its input ends."""
        try:
            job.wait(10)
        except subprocess.TimeoutExpired:
            job.stdin.close()
            job.stdin = None
        return job.stdout.read(), job.wait(60)

    def test_line_comes_last(self):
        result = run("run", "--summary", "--", "sh", "-c", "cat; echo error >&2; exit 3", input="through\n")
        self.assertEqual((result.returncode, result.stdout), (3, "through\n"))
        self.assertRegex(result.stderr, r"\Aerror\nwarmverbs: no RDMA call was seen[^\n]*\n\Z")

    def test_exit_status_is_that_of_run(self):
        for arguments in (("no-such-program",), ("/etc/passwd",), ("--no-such-option", "true"), ()):
            with self.subTest(arguments=arguments):
                plain, with_summary = run("run", *arguments), run("run", "--summary", *arguments)
                self.assertEqual(with_summary.returncode, plain.returncode)
                self.assertEqual(with_summary.stderr, plain.stderr)

    def test_death_by_signal_is_passed_on(self):
        for name in ("USR1", "KILL", "SEGV", "INT", "PIPE"):
            with self.subTest(name):
                result = run("run", "--summary", "sh", "-c", f"kill -{name} $$")
                self.assertEqual(result.returncode, -signal.Signals[f"SIG{name}"])
                self.assertIn("warmverbs: ", result.stderr)

    def test_signals_reach_the_program(self):
        for command in (("run", "--summary"), ("explain",)):
            for name in ("TERM", "HUP", "INT", "USR2"):
                with self.subTest(command=command, name=name):
                    job = self.start(f"trap 'exit 5' {name}; echo ready; read -r line", command)
                    job.send_signal(signal.Signals[f"SIG{name}"])
                    self.assertEqual(self.end(job)[1], 5)

    def test_timer_from_before(self):
        """It has run out, and its signal is pending; a program's own process would find it so."""
        def alarm():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            while signal.SIGALRM not in signal.sigpending():
                pass
        program = [sys.executable, "-c", "import signal; print(signal.sigwait([signal.SIGALRM]).name)"]
        for command in ([], [WARMVERBS, "run"], [WARMVERBS, "run", "--summary"], [WARMVERBS, "explain"]):
            with self.subTest(command):
                result = subprocess.run([*command, *program], env=environment(), preexec_fn=alarm, text=True,
                                        capture_output=True, timeout=60, check=False)
                self.assertEqual((result.returncode, result.stdout), (0, "SIGALRM\n"))

    def test_signal_of_the_program_comes_once(self):
        """A program that signals its process group, warmverbs included, gets the signal itself."""
        script = "trap 'echo signal' TERM; echo ready; kill -TERM 0; sleep 0.3; sleep 0.3; exit 4"
        self.assertEqual(self.end(self.start(script)), ("signal\n", 4))

    def test_stops_and_goes_on_as_the_program(self):
        for name in ("STOP", "TSTP", "TTIN"):
            with self.subTest(name):
                job = self.start(f"echo ready; kill -{name} $$; exit 6")
                _, status = os.waitpid(job.pid, os.WUNTRACED)
                self.assertTrue(os.WIFSTOPPED(status))
                self.assertEqual(os.WSTOPSIG(status), signal.Signals[f"SIG{name}"])
                job.send_signal(signal.SIGCONT)
                self.assertEqual(self.end(job)[1], 6)

    def test_stop_of_the_job_and_its_return(self):
        """As a terminal does it: to all of the process group."""
        job = self.start("trap 'exit 7' USR1; echo ready; read -r line")
        os.killpg(job.pid, signal.SIGTSTP)
        _, status = os.waitpid(job.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        os.killpg(job.pid, signal.SIGCONT)
        job.send_signal(signal.SIGUSR1)
        self.assertEqual(self.end(job)[1], 7)

    def test_kill_of_warmverbs_ends_the_program(self):
        job = self.start("echo ready; read -r line")
        job.kill()
        self.end(job)  # with the end of its output


class Daemon:
    """Takes one question and gives one answer: text, or bytes that stand for the whole message."""

    def __init__(self, folder, answer):
        self.path = f"{folder}/socket"
        self.answer = answer
        self.question = None
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.path)
        self.listener.listen()
        self.listener.settimeout(10)  # nobody asks
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(TimeoutError):
            client, _ = self.listener.accept()
            self.talk(client)

    def talk(self, client):
        with client:
            message = client.recv(4096)
            magic, version, kind, size, _ = HEAD.unpack_from(message)
            if (magic, version, kind, size) == (MAGIC, VERSION, CONTROL, len(message)):
                self.question = json.loads(message[HEAD.size :])
            if isinstance(self.answer, bytes):
                client.send(self.answer)
            elif self.answer is not None:
                self.send_text(client)

    def send_text(self, client):
        memory = os.memfd_create("answer")
        os.write(memory, self.answer.encode())  # and leaves the offset at its end
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [memory]))
        client.sendmsg([HEAD.pack(MAGIC, VERSION, CONTROL, HEAD.size, 0)], [rights])
        os.close(memory)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.thread.join()
        self.listener.close()


def ask(answer, *arguments):
    with tempfile.TemporaryDirectory() as folder, Daemon(folder, answer) as daemon:
        result = run(*arguments, "--socket", daemon.path)
    return result, daemon.question


class Ask(unittest.TestCase):
    def test_json_is_unchanged(self):
        text = '{ "recipes":[ ],\n "later": 1}'
        result, question = ask(text, "status", "--json")
        self.assertEqual((result.returncode, result.stdout), (0, text + "\n"))
        self.assertEqual(question, {"op": "status"})

    def test_questions(self):
        for arguments, expected in (
            (("recipes", "list"), {"op": "status"}),
            (("recipes", "forget", "all"), {"op": "forget", "id": "all"}),
            (("recipes", "show", "0123"), {"op": "recipe", "id": "0123"}),
        ):
            with self.subTest(arguments=arguments):
                self.assertEqual(ask("{}", *arguments)[1], expected)

    def test_refusal_is_told(self):
        result, _ = ask('{"error": "there is none", "remedy": "look elsewhere"}', "recipes", "show", "1")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("there is none\n  look elsewhere\n", result.stderr)

    def test_nonsense_is_no_answer(self):
        for answer in ("no json", "[]", "", b"short", HEAD.pack(MAGIC, VERSION - 1, CONTROL, HEAD.size, 0), None):
            with self.subTest(answer=answer):
                self.assertEqual(ask(answer, "status")[0].returncode, 3)

    def test_no_daemon(self):
        result = run("status", "--socket", "/nowhere/socket")
        self.assertEqual(result.returncode, 3)
        self.assertIn("/nowhere/socket", result.stderr)
        self.assertEqual(run("status", env={"WARMVERBS_SOCKET": "/nowhere/else"}).returncode, 3)
        self.assertEqual(run("status", "--socket", "/" + "x" * 200).returncode, 3)


class Usage(unittest.TestCase):
    def test_wrong_usage(self):
        for arguments in (
            (),
            ("no-such-command",),
            ("help", "no-such-command"),
            ("status", "too-much"),
            ("recipes",),
            ("recipes", "burn"),
            ("recipes", "show"),
            ("recipes", "show", "1", "2"),
            ("recipes", "list", "1"),
        ):
            with self.subTest(arguments=arguments):
                result = run(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertNotEqual(result.stderr, "")

    def test_help_that_cannot_be_printed(self):
        failing = ((("--help",), 1), (("help",), 1), (("status", "--usage"), 1), (("run", "--help"), 125))
        for arguments, status in failing:
            with self.subTest(arguments), open("/dev/full", "w", encoding="ascii") as full:
                result = run(*arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, status)
                self.assertIn("cannot print", result.stderr)

    def test_help(self):
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.assertEqual(run("help", "run").stdout, run("run", "--help").stdout)
        self.assertTrue(run("--version").stdout.startswith("warmverbs "))


if __name__ == "__main__":
    WARMVERBS, LIBRARY = map(os.path.abspath, sys.argv[1:3])
    cases.main(argv=[sys.argv[0], *sys.argv[3:]])
