# SPDX-License-Identifier: BSD-2-Clause
"""A daemon of an account of its own, hostile users and a victim."""

import functools
import os
import pathlib
import resource
import shutil
import tempfile
import unittest

from . import attacks, bed, client, peering, recordings, users

VICTIMS = b"victim"
NOFILE = 4096
SLOW_FSYNC = str(bed.BUILD / "tests/hostile/libslow-fsync.so")
SHARED_RHYTHM_S = 1 if bed.SANITIZED else 0.2  # between leases of one of twenty users
HANG_S = 30  # who has no answer by then waits for the attack


def make_folder(prefix):
    """A folder for a daemon of its own account. Everybody may write to "scratch" in it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
    folder.chmod(0o755)
    os.chown(folder, users.DAEMON, users.gid())
    (folder / "state").mkdir(mode=0o700)
    os.chown(folder / "state", users.DAEMON, users.gid())
    for name in ("scratch", "traces"):
        (folder / name).mkdir()
        (folder / name).chmod(0o1777)
    return folder


def make_target(folder, socket):
    """What attackers need, captured from programs; the daemon on @socket lists the providers."""
    providers = (pathlib.Path(socket).parent / "providers").read_text()
    captured = {name: recordings.capture(words, folder / name, providers)
                for name, words in (("small", recordings.SMALL), ("long", recordings.LONG), ("dear", recordings.DEAR))}
    return attacks.Target(str(socket), scratch=str(folder / "scratch"), **captured)


def _account(folder, nofile):
    """What makes a process the daemon's account, to which the hostile user's subordinate users are known."""
    def enter():
        users.hide("/etc/subuid", folder / "subuid")
        resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, nofile))
        users.become(users.DAEMON)
    return enter


def start_daemon(folder, options=(), env=None, nofile=NOFILE):
    """A daemon of its own account, which may have @nofile descriptors, in a folder that make_folder() made."""
    (folder / "subuid").write_text(f"{users.ATTACKER}:{users.SUBORDINATES.start}:{len(users.SUBORDINATES)}\n")
    options = ("--group", users.GROUP, *peering.options(folder, users.DAEMON), *options)
    return bed.Daemon(folder, options, {"preexec_fn": _account(folder, nofile)}, env)


def slow_disk(ms):
    """The environment of a daemon whose disk takes @ms milliseconds to write a file down."""
    return {"LD_PRELOAD": " ".join([*bed.runtimes(bed.DAEMON), SLOW_FSYNC, bed.STANDIN]), "SLOW_FSYNC_MS": str(ms)}


def why_not():
    """Why there can be no daemon of its own account; None if there can be one."""
    why = users.why_not()
    if not why and not users.run_as(users.DAEMON, os.access, bed.DAEMON, os.X_OK):
        why = f"other users cannot execute {bed.DAEMON}"
    return why


class Case(bed.Case):
    """Each case has a daemon of its own, since an attack may leave something behind."""

    nofile = NOFILE

    @classmethod
    def setUpClass(cls):
        why = why_not()
        if why:
            raise unittest.SkipTest(why)

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        super().setUp()
        self.folder = make_folder("hostile.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.daemon = start_daemon(self.folder, self.daemon_options, self.daemon_env, self.nofile)
        self.addCleanup(self.daemon.stop)
        self.target = make_target(self.folder, self.daemon.socket)
        self.client = client.Client(self.target.socket)

    def going(self, *kinds):
        """These attacks, to go on while a block lasts."""
        return attacks.Going([kind(self.target) for kind in kinds])

    def as_user(self, uid, function, *args, **kwargs):
        return users.run_as(uid, functools.partial(function, **kwargs), *args)

    def victim_learns(self, recording=None):
        """Has leases pooled for the victim."""
        self.as_user(users.VICTIM, self.client.learn, VICTIMS, recording or self.target.small)
        self.daemon.await_ready(VICTIMS.decode())

    def victim_leases(self, n, rest_s):
        """How many leases the victim gets when it requests @n, and how long each answer takes."""
        return self.as_user(users.VICTIM, self.client.leases, VICTIMS, n, rest_s)
