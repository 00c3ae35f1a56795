#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Nobody makes a program run code, or write a file, that it would not without warmverbs.

Two ways in: the environment of a program that has more rights than its caller, and the list of providers beside the
socket.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest
import unittest.mock

from support import bed

LINKED = bed.BUILD / "tests/hostile/linked"
PLUGIN = next((bed.BUILD / "tests/hostile").glob("libplugin.so"))
NOBODY = 65534
UNKNOWN = 0  # enum wv_daemon


def folder_for_all():
    """Outside the build, which others may not be able to read."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hostile."))
    folder.chmod(0o755)
    return folder


@unittest.skipUnless(os.geteuid() == 0, "needs root, to give a program more rights than its caller has")
@unittest.skipIf(bed.SANITIZED, "a sanitizer's runtime cannot be preloaded into a program with more rights")
class Environment(unittest.TestCase):
    """A program that is linked with libwarmverbs and has more rights than its caller, who sets all variables."""

    def setUp(self):
        self.folder = folder_for_all()
        self.addCleanup(shutil.rmtree, self.folder)
        self.trace = self.folder / "traces/trace"
        self.trace.parent.mkdir()
        self.trace.parent.chmod(0o777)
        (self.folder / "providers").write_text(f"uverbs0 {PLUGIN}\n")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(self.folder / "socket"))
        (self.folder / "socket").chmod(0o777)
        self.listener.listen()
        self.listener.setblocking(False)
        self.addCleanup(self.listener.close)

    def run_as(self, mode, group, *prefix):
        copy = self.folder / "linked"
        shutil.copy(LINKED, copy)
        os.chown(copy, 0, group)
        copy.chmod(mode)
        env = {**bed.CLEAN, "WARMVERBS_SOCKET": str(self.folder / "socket"), "WARMVERBS_TRACE": str(self.trace),
               "WARMVERBS_PREFORK": "2", "WARMVERBS_SHARE_MR": "1", "WARMVERBS_NAME": "a stranger's"}
        return subprocess.run([*prefix, copy], env=env, capture_output=True, text=True, timeout=bed.LIMIT_S,
                              check=True)

    def visited(self):
        try:
            self.listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def check(self, result, secure):
        said = dict(line.split() for line in result.stdout.splitlines())
        if secure and said["secure"] != "1":
            self.skipTest("no more rights: the folder is mounted nosuid")
        self.assertEqual(said["secure"], str(int(secure)))
        self.assertNotIn("a stranger", result.stderr)
        self.assertEqual((self.trace.exists(), self.visited()), (not secure, not secure))
        if secure:
            self.assertEqual(said["daemon"], str(UNKNOWN))

    def test_setuid(self):
        result = self.run_as(0o4755, 0, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        self.check(result, secure=True)

    def test_setgid(self):
        self.check(self.run_as(0o2755, NOBODY), secure=True)

    def test_neither(self):
        """What the cases above look for does happen in an ordinary program."""
        self.check(self.run_as(0o755, 0), secure=False)


class Providers(bed.Case):
    """The list of providers is another's, or names another file than a provider."""

    def setUp(self):
        super().setUp()
        self.folder_of_list = folder_for_all()
        self.addCleanup(shutil.rmtree, self.folder_of_list)
        self.list = self.folder_of_list / "providers"
        self.genuine = (self.folder / "providers").read_text()

    def listed(self):
        """The providers that a program loads whose socket is beside the list; and what it says on stderr."""
        result = self.run_warm("", program=str(LINKED), env={"WARMVERBS_SOCKET": str(self.folder_of_list / "socket"),
                                                           "LD_DEBUG": "files"})
        self.assertEqual(result.status, 0, result.errors)
        loaded = {line.split("file=")[1].split()[0] for line in result.errors.splitlines()
                  if "file=" in line and "-rdmav" in line}
        return {pathlib.Path(path).name for path in loaded}, result.errors

    def check_ignored(self):
        """The program does what it does without a list: it loads all providers."""
        loaded, errors = self.listed()
        self.assertNotIn("a stranger", errors)
        self.assertGreater(len(loaded), 1)

    def test_genuine(self):
        """The list itself has plain names, and saves a program from loading every provider."""
        self.assertNotIn("/", self.genuine)
        self.list.write_text(self.genuine)
        self.assertEqual(self.listed()[0], {self.genuine.split()[1]})

    def test_path(self):
        self.list.write_text(f"uverbs0 {PLUGIN}\n")
        self.check_ignored()

    def test_path_upwards(self):
        """From whatever folder: up to the root, and down again."""
        self.list.write_text(f"uverbs0 {'../' * 20}{str(PLUGIN).lstrip('/')}\n")
        self.check_ignored()

    def test_name_in_another_folder(self):
        """A plain name is not looked up where the linker looks up others."""
        self.list.write_text(f"uverbs0 {PLUGIN.name}\n")
        with unittest.mock.patch.dict(bed.CLEAN, {"LD_LIBRARY_PATH": str(PLUGIN.parent)}):
            self.check_ignored()

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to give a file to another user")
    def test_owner(self):
        self.list.write_text(self.genuine)
        os.chown(self.list, NOBODY, NOBODY)
        self.check_ignored()
        os.chown(self.folder_of_list, NOBODY, NOBODY)  # Whose daemon it then is.
        self.assertEqual(self.listed()[0], {self.genuine.split()[1]})

    def test_writable_by_others(self):
        for mode in (0o664, 0o646):
            with self.subTest(oct(mode)):
                self.list.write_text(self.genuine)
                self.list.chmod(mode)
                self.check_ignored()

    def test_link(self):
        elsewhere = self.folder_of_list / "elsewhere"
        elsewhere.write_text(self.genuine)
        self.list.symlink_to(elsewhere)
        self.check_ignored()

    def test_fifo(self):
        """The program does not wait until somebody writes."""
        os.mkfifo(self.list)
        self.check_ignored()


if __name__ == "__main__":
    bed.main()
