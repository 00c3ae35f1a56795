#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What starts from a template is what exec would have made, or is executed."""

import ctypes
import fcntl
import os
import re
import resource
import signal
import subprocess
import tempfile

import template
from template import SPY

# Programs of Debian, with arguments for which two runs say the same.
PROGRAMS = """
/bin/ls -l /usr
/bin/cat /etc/services
/usr/bin/sort -r /etc/services
/usr/bin/uniq -c /etc/services
/usr/bin/wc /etc/services
/usr/bin/head -n 3 /etc/services
/usr/bin/tail -n 3 /etc/services
/usr/bin/cut -c 1-5 /etc/services
/usr/bin/tr a b
/usr/bin/md5sum /etc/services
/usr/bin/sha256sum /etc/services
/usr/bin/base64 /etc/services
/usr/bin/od /etc/hostname
/usr/bin/expr 6 * 7
/usr/bin/seq 20
/usr/bin/id
/usr/bin/env
/usr/bin/printenv PATH
/bin/uname -a
/bin/date +%Y
/usr/bin/stat -c %n%s /etc/services
/usr/bin/find /etc/apt
/bin/grep -n tcp /etc/services
/bin/sed s/tcp/x/ /etc/services
/usr/bin/mawk {print$2} /etc/services
/usr/bin/perl -e print(1+1,qq(@ARGV),$$>1)
/usr/bin/diff /etc/services /etc/hostname
/bin/tar -tf /dev/null
/bin/gzip -c /etc/services
/bin/bash -c ulimit\t-a;umask;exit\t7
/bin/dash -c umask;kill\t-9\t$$
/usr/bin/python3 -c import\tos,sys;print(sys.argv,os.environ,os.getcwd(),os.umask(0));sys.exit(3)
""".strip().splitlines()

PR_SET_PDEATHSIG = 1


def limit(number, soft, hard):
    return lambda: resource.setrlimit(number, (soft, hard))


def block(*signals):
    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, signals)


def ignore(*signals):
    return lambda: [signal.signal(number, signal.SIG_IGN) for number in signals]


def descriptors(*numbers):
    """At these numbers and no others, the file that is standard input."""
    def take():
        for number in numbers:
            os.dup2(0, number)
        for number in range(3, 300):
            if number not in numbers:
                try:
                    os.close(number)
                except OSError:
                    pass
    return take


class Exact(template.Case):
    def same(self, setup=None, argv=(SPY, "a", "", "b c"), **kwargs):
        """A spy finds nothing that differs."""
        with tempfile.TemporaryFile() as file:
            plain, started = self.run_both(self.template(), argv, preexec_fn=setup, stdin=file, **kwargs)
        self.assertEqual((started.returncode, self.comparable(started.stdout), started.stderr),
                         (plain.returncode, self.comparable(plain.stdout), plain.stderr))
        self.assertIn("argv[argc] NULL", plain.stdout)

    @staticmethod
    def comparable(text):
        text = re.sub(r"^descriptor [12] .*\n", "", text, flags=re.MULTILINE)  # the pipes to this process
        return re.sub(r"^(timer [12] \d+) .*", r"\1", text, flags=re.MULTILINE).splitlines()  # which runs

    def refused(self, setup, why, made=None, **kwargs):
        """The program is executed, and says the same."""
        plain, started = self.run_both(made or self.template(), [SPY], preexec_fn=setup, stdin=subprocess.DEVNULL,
                                       **kwargs)
        self.assertIn(why, started.stderr)
        self.assertEqual(self.comparable(started.stdout), self.comparable(plain.stdout))

    def test_nothing_special(self):
        self.same()

    def test_no_arguments(self):
        self.same(argv=[SPY])

    def test_many_arguments(self):
        self.same(argv=[SPY, *map(str, range(5000))])

    def test_status(self):
        self.same(argv=[SPY, "7"])

    def test_signal(self):
        self.same(argv=[SPY, "signal", str(int(signal.SIGUSR1))])

    def test_core(self):
        self.same(argv=[SPY, "signal", str(int(signal.SIGSEGV))])

    def test_environment(self):
        self.same(env={"ONE": "1", "EMPTY": "", "TWICE": "x" * 3000})

    def test_empty_environment(self):
        self.same(env={})

    def test_folder_and_umask(self):
        def setup():
            os.chdir("/usr")
            os.umask(0o077)
        self.same(setup)

    def test_limits(self):
        def setup():
            for number in (resource.RLIMIT_CORE, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE):
                resource.setrlimit(number, (1 << 28, 1 << 29))
        self.same(setup)

    def test_few_descriptors(self):
        self.same(limit(resource.RLIMIT_NOFILE, 20, 30))

    def test_nice(self):
        self.same(lambda: os.nice(5))

    def test_ignored_signals(self):
        self.same(ignore(signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGCHLD))

    def test_blocked_signals(self):
        self.same(block(signal.SIGTERM, signal.SIGUSR1, signal.SIGRTMAX))

    def test_descriptors(self):
        self.same(descriptors(3, 4, 5, 6, 7), close_fds=False)

    def test_descriptors_with_gaps(self):
        self.same(descriptors(5, 63, 64, 250), close_fds=False)

    def test_no_standard_input(self):
        self.same(lambda: os.close(0))

    def test_other_processors(self):
        self.refused(lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}), "Cpus_allowed")

    def test_other_policy(self):
        self.refused(lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)), "scheduling differs")

    def test_other_loader(self):
        self.refused(None, "LD_BIND_NOW", env={**os.environ, "LD_BIND_NOW": "1"})

    def test_timer(self):
        self.refused(lambda: signal.setitimer(signal.ITIMER_VIRTUAL, 1000.5), "has set a timer")

    def test_pending_signal(self):
        def setup():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
            os.kill(os.getpid(), signal.SIGUSR1)
        self.refused(setup, "signals wait for this process")

    def test_lock_behind_that_of_another(self):
        """The kernel names one lock at a time."""
        path = self.folder / "locked"
        path.write_bytes(bytes(100))
        with open(path, "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX, 10, 0)
            self.refused(lambda: fcntl.lockf(file, fcntl.LOCK_EX, 10, 50), "holds locks", pass_fds=[file.fileno()])

    def test_relative_folder_of_libraries(self):
        self.refused(None, "working directory", env={**os.environ, "LD_LIBRARY_PATH": "lib"})

    def test_socket_of_systemd(self):
        self.refused(None, "NOTIFY_SOCKET", env={**os.environ, "NOTIFY_SOCKET": "/run/nowhere"})

    def test_signal_at_the_end_of_the_parent(self):
        self.refused(lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGUSR1), "at the parent's end")

    def test_other_rights(self):
        if os.geteuid():
            self.skipTest("can have no others")
        self.refused(lambda: os.setresuid(2003, 0, 0), "other rights than its user")

    def test_numbers_above_the_limit(self):
        """Of the template; which serves others, however often that happens."""
        def setup():
            resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
            os.dup2(0, 5000)
        made = self.template(prefix=["prlimit", "--nofile=1024:1024"])
        for _ in range(10):
            self.refused(setup, "descriptors are above the limit", made, close_fds=False)
        self.assertIsNone(made.process.poll())

    def test_fewer_rights(self):
        if os.geteuid():
            self.skipTest("has no rights to give up")
        self.refused(lambda: (os.setgroups([]), os.setresgid(2003, 2003, 2003)), "Gid differs")

    def test_programs(self):
        for line in PROGRAMS:
            argv = [word.replace("\t", " ") for word in line.split(" ")]
            if not os.access(argv[0], os.X_OK):
                continue
            with self.subTest(argv[0]):
                made = self.template(argv[0])
                plain, started = self.run_both(made, argv, stdin=subprocess.DEVNULL)
                self.assertEqual((started.returncode, started.stdout, started.stderr),
                                 (plain.returncode, plain.stdout, plain.stderr))
                self.assertEqual(made.stop(), "")


if __name__ == "__main__":
    template.main()
