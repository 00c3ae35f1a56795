#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The hook of containers on images that were made to harm it, in a mount namespace of its own. Root only.

    test_hook.py WARMVERBS LIBRARY FOLDER_OF_DATA [unittest's arguments]
"""
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402  (the path comes first)

WARMVERBS = LIBRARY = None
INSIDE = "WV_TEST_HOOK_INSIDE"
LIBC = "usr/lib/x86_64-linux-gnu/libc.so.6"
NAMES = ("/warmverbs", "/libwarmverbs.so.0", "/ld.so.preload")
SKIPPED = 77
MOST_KIB = 128 << 10  # sanitizers need some themselves
HUGE = 512 << 20

ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
VERDEF = 0x6ffffffd


def elf_header(sections):
    return ELF_HEADER.pack(b"\x7fELF\x02\x01\x01" + bytes(9), 3, 62, 1, 0, 0, ELF_HEADER.size, 0, 64, 0, 0, 64,
                           sections, 0)


def huge_section():
    """The versions of this libc are as long as the file, and nearly all of them is a hole."""
    return elf_header(2) + bytes(64) + SECTION.pack(0, VERDEF, 0, 0, 4096, HUGE - 4096, 0, 0x7fff, 8, 0)


def many_sections():
    """The number of sections is in the first one, since it does not fit in the header."""
    return elf_header(0) + SECTION.pack(0, 0, 0, 0, 0, (HUGE - 128) // 64, 0, 0, 0, 0)


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def mount_tmpfs(folder):
    mount("-t", "tmpfs", "none", str(folder))


class Log:
    """What programs tell the system's log."""

    def __init__(self):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("/dev/log")

    def drain(self):
        lines = []
        self._socket.setblocking(False)
        try:
            while True:
                lines.append(self._socket.recv(4096).decode())
        except BlockingIOError:
            return "\n".join(lines)


class Hook(unittest.TestCase):
    def setUp(self):
        self.bundle = pathlib.Path(tempfile.mkdtemp(prefix="warmverbs-hook-"))
        self.addCleanup(shutil.rmtree, self.bundle, ignore_errors=True)
        self.root = self.bundle / "rootfs"
        for name in ("run", "etc", "data", str(pathlib.Path(LIBC).parent)):
            (self.root / name).mkdir(parents=True)
        self.volume = self.bundle / "volume"
        self.volume.mkdir()
        shutil.copy(f"/{LIBC}", self.root / LIBC)
        self.write_config()

    def write_config(self):
        (self.bundle / "config.json").write_text(json.dumps({"root": {"path": "rootfs"}, "process": {"env": []}}))

    def mount_in_root(self, *words, at):
        mount(*words, str(self.root / at))
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.root / at], check=True)

    def run_hook(self):
        """The status, the most memory of its processes in KiB, what the log says, and what is mounted."""
        state = {"ociVersion": "1.0.2", "id": "me", "status": "creating", "bundle": str(self.bundle)}
        hook = subprocess.Popen([WARMVERBS, "container", "hook"], stdin=subprocess.PIPE,
                                env={**os.environ, "WARMVERBS_LIBRARY": LIBRARY})
        hook.stdin.write(json.dumps(state).encode())
        hook.stdin.close()
        _, status, usage = os.wait4(hook.pid, 0)
        hook.returncode = status
        return status, usage.ru_maxrss, LOG.drain(), self.mounted()

    def mounted(self):
        """Relative to the root; what the hook has mounted is removed afterwards."""
        points = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
        ours = [point for point in points if point.startswith(f"{self.root}/") and point.endswith(NAMES)]
        for point in ours:
            self.addCleanup(subprocess.run, ["umount", "--lazy", point], check=True)
        return sorted(point.removeprefix(f"{self.root}/") for point in ours)

    def assert_plain(self, reason, mounts=()):
        status, kib, log, mounted = self.run_hook()
        self.assertEqual(status, 0)
        self.assertIn("container me runs with plain verbs", log)
        self.assertIn(reason, log)
        self.assertLess(kib, MOST_KIB)
        self.assertEqual(mounted, sorted(mounts))

    def assert_warm(self, etc="etc"):
        status, _, log, mounted = self.run_hook()
        self.assertEqual((status, log), (0, ""))
        self.assertEqual(mounted, [f"{etc}/ld.so.preload", "run/libwarmverbs.so.0", "run/warmverbs"])

    def sparse_libc(self, start):
        (self.root / LIBC).write_bytes(start)
        os.truncate(self.root / LIBC, HUGE)

    def test_image_of_this_node(self):
        self.assert_warm()

    def test_huge_section(self):
        self.sparse_libc(huge_section())
        self.assert_plain("File too large", ["run/warmverbs"])

    def test_many_sections(self):
        self.sparse_libc(many_sections())
        self.assert_plain("is too old", ["run/warmverbs"])

    def test_link_into_a_volume(self):
        (self.root / "etc").rmdir()
        (self.root / "etc").symlink_to("/data")
        self.mount_in_root("--bind", str(self.volume), at="data")
        self.assert_plain("leads to one", ["run/libwarmverbs.so.0", "run/warmverbs"])
        self.assertEqual(list(self.volume.iterdir()), [])

    def test_volume(self):
        self.mount_in_root("--bind", str(self.volume), at="run")
        self.assert_plain("is a volume")
        self.assertEqual(list(self.volume.iterdir()), [])

    def test_volume_in_a_tmpfs(self):
        """The host has it in its own tmpfs."""
        mount_tmpfs(self.volume)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.volume], check=True)
        (self.volume / "folder").mkdir()
        self.mount_in_root("--bind", str(self.volume / "folder"), at="run")
        self.assert_plain("is a volume")
        self.assertEqual(list((self.volume / "folder").iterdir()), [])

    def test_link_to_a_tmpfs(self):
        """It may be a volume, too: one of all containers of a pod."""
        (self.root / "run").rmdir()
        (self.root / "run").symlink_to("/data")
        self.mount_in_root("-t", "tmpfs", "none", at="data")
        self.assert_plain("leads to one")
        self.assertEqual(list((self.root / "data").iterdir()), [])

    def test_link_within_the_image(self):
        (self.root / "etc").rmdir()
        (self.root / "etc").symlink_to("/data")
        self.assert_warm(etc="data")

    def test_tmpfs(self):
        """Runtimes mount one in /run of a root that is read-only."""
        self.mount_in_root("-t", "tmpfs", "none", at="run")
        self.assert_warm()

    def test_file_that_cannot_be_read(self):
        """A pipe stands for a file of a file system that does not answer."""
        (self.bundle / "config.json").unlink()
        os.mkfifo(self.bundle / "config.json")
        self.assert_plain("within 20 seconds")


def go_inside():
    """Into a mount namespace, in which the node has what the hook mounts, and its log is ours."""
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", "env", f"{INSIDE}=1", sys.executable,
                          *sys.argv])


def prepare(data):
    mount_tmpfs("/run")
    pathlib.Path("/run/warmverbs").mkdir()
    existing = next(folder for folder in [data, *data.parents] if folder.is_dir())
    mount_tmpfs(existing)
    (data / "warmverbs").mkdir(parents=True)
    (data / "warmverbs/ld.so.preload").write_text("/run/libwarmverbs.so.0\n")
    mount_tmpfs("/dev")
    pathlib.Path("/dev/null").touch()


if __name__ == "__main__":
    if os.geteuid() != 0 or not pathlib.Path(f"/{LIBC}").exists():
        print("only for root, on x86-64 with Debian's folders")
        sys.exit(SKIPPED)
    if INSIDE not in os.environ:
        go_inside()
    WARMVERBS, LIBRARY, DATA = sys.argv[1:4]
    prepare(pathlib.Path(DATA))
    LOG = Log()
    cases.main(argv=sys.argv[:1] + sys.argv[4:])
