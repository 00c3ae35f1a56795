#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What `warmverbs container` writes for runtimes, and that its hook touches nothing outside of an image. What
containers get is tested with real runtimes (tests/containers)."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import bed, cases

# Of the specification of CDI, version 0.5.0: vendor and class of a kind, and names of devices.
KIND = re.compile(r"[A-Za-z]([\w.-]*[A-Za-z0-9])?/[A-Za-z]([\w-]*[A-Za-z0-9])?")
NAME = re.compile(r"[A-Za-z0-9]([\w.:-]*[A-Za-z0-9])?")
HOOKS = ("prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop")
NODE = "/dev/infiniband/uverbs0"


def container(*arguments, env=None, **how):
    return subprocess.run([bed.CLI, "container", *arguments], env=bed.environment(bed.CLI, False, env),
                          capture_output=True, text=True, check=False, timeout=bed.LIMIT_S, **how)


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="warmverbs-container-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def check_edits(self, edits):
        for node in edits.get("deviceNodes", []):
            self.assertTrue(node["path"].startswith("/dev/infiniband/"))
            self.assertLessEqual(set(node["permissions"]), set("rwm"))
            self.assertGreater(node["fileMode"], 0)
        for hook in edits.get("hooks", []):
            self.assertIn(hook["hookName"], HOOKS)
            self.assertTrue(os.access(hook["path"], os.X_OK))
            self.assertGreater(hook["timeout"], 0)

    def test_specification_obeys_the_rules_of_cdi(self):
        result = container("cdi")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        document = json.loads(result.stdout)
        self.assertEqual(set(document), {"cdiVersion", "kind", "devices", "containerEdits"})
        self.assertTrue(KIND.fullmatch(document["kind"]))
        names = [device["name"] for device in document["devices"]]
        self.assertEqual(names, ["mlx5_0", "all"])
        self.assertTrue(all(map(NAME.fullmatch, names)))
        for edits in [document["containerEdits"], *(device["containerEdits"] for device in document["devices"])]:
            self.assertTrue(edits)
            self.check_edits(edits)

    def test_file_is_replaced_as_a_whole(self):
        path = self.folder / "cdi/warmverbs.json"
        for _ in range(2):
            self.assertEqual(container("cdi", "--output", str(path)).returncode, 0)
            self.assertEqual(path.read_text(), container("cdi").stdout)
            self.assertEqual([file.name for file in path.parent.iterdir()], [path.name])
        self.assertEqual(path.stat().st_mode & 0o777, 0o644)

    def test_without_devices_the_file_stays(self):
        path = self.folder / "warmverbs.json"
        path.write_text("old")
        result = container("cdi", "--output", str(path), env={"SYSFS_PATH": str(self.folder)})
        self.assertEqual((result.returncode, path.read_text()), (1, "old"))
        self.assertIn("no RDMA device", result.stderr)

    def test_file_that_cannot_be_written(self):
        result = container("cdi", "--output", "/proc/warmverbs.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/proc/warmverbs.json", result.stderr)

    def test_configuration_gets_devices_once(self):
        path = self.folder / "config.json"
        other = {"path": "/bin/true"}
        path.write_text(json.dumps({"root": {"path": "rootfs"}, "hooks": {"createRuntime": [other]}}))
        self.assertEqual(container("oci", str(path)).returncode, 0)
        once = path.read_text()
        config = json.loads(once)
        self.assertEqual(config["root"], {"path": "rootfs"})
        node, = config["linux"]["devices"]
        rule, = config["linux"]["resources"]["devices"]
        self.assertEqual((node["path"], node["type"]), (NODE, "c"))
        self.assertEqual((rule["major"], rule["minor"], rule["allow"]), (node["major"], node["minor"], True))
        first, hook = config["hooks"]["createRuntime"]
        self.assertEqual(first, other)
        self.assertGreater(hook["timeout"], 0)
        self.assertEqual(container("oci", str(path)).returncode, 0)
        self.assertEqual(path.read_text(), once)

    def test_what_is_no_configuration_stays(self):
        for text in ("", "[]", '{"hooks": 1}', '{"hooks": {"createRuntime": 1}}', '{"linux": {"devices": {}}}',
                     '{"linux": []}', '{"linux": {"resources": 7}}'):
            with self.subTest(text=text):
                path = self.folder / "config.json"
                path.write_text(text)
                result = container("oci", str(path))
                self.assertEqual((result.returncode, path.read_text()), (1, text))
                self.assertIn("is no configuration", result.stderr)

    def test_wrong_command_lines(self):
        for arguments in ((), ("oci",), ("cdi", "x"), ("list",), ("hook", "--output", "x"), ("oci", "a", "b")):
            with self.subTest(arguments=arguments):
                self.assertEqual(container(*arguments).returncode, 2)


# A hook runs where the container's mounts are seen, and nobody else sees them.
IN_NAMESPACE = """mount -t tmpfs none /run && mkdir /run/warmverbs || exit 77
"$0" container hook && cat /proc/self/mountinfo"""


class Hook(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="warmverbs-container-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.image = self.folder / "image"
        for name in ("run", "etc", "lib64"):
            (self.image / name).mkdir(parents=True)
        self.outside = self.folder / "outside"
        self.outside.mkdir()

    def hook(self, state):
        """Returns the mounts in the image, afterwards."""
        result = subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c", IN_NAMESPACE, bed.CLI],
                                input=state, env=bed.CLEAN, capture_output=True, text=True, check=False,
                                timeout=bed.LIMIT_S)
        if "unshare" in result.stderr or result.returncode == 77:
            self.skipTest("mount namespaces cannot be made here")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        places = [line.split()[4] for line in result.stdout.splitlines()]
        return {os.path.relpath(place, self.image) for place in places if place.startswith(str(self.folder))}

    def serve(self, **config):
        (self.folder / "config.json").write_text(json.dumps({"root": {"path": "image"}, **config}))
        mounts = self.hook(json.dumps({"id": "test", "bundle": str(self.folder)}))
        self.assertEqual(list(self.outside.iterdir()), [])
        return mounts

    def give_libc(self, path):
        shutil.copy2(path, self.image / "lib64/libc.so.6")

    def test_never_fails(self):
        """A hook that fails ends the container."""
        for text in ("", "[]", "{}", '{"bundle": 1}', json.dumps({"bundle": str(self.folder)})):
            self.assertEqual(self.hook(text), set())
        for text in ("", "[]", "{}", '{"root": {"path": "none"}}', '{"root": 1}', '{"root": {"path": "/dev/null"}}'):
            (self.folder / "config.json").write_text(text)
            self.hook(json.dumps({"id": "a%s", "bundle": str(self.folder)}))

    def test_library_that_fits(self):
        """The list of libraries is mounted if warmverbs is installed."""
        self.give_libc(loaded_libc())
        self.assertLessEqual({"run/warmverbs", "run/libwarmverbs.so.0"}, self.serve())

    def test_library_that_does_not_fit(self):
        """The other file defines none of the versions, as a libc that is too old."""
        self.assertEqual(self.serve(), {"run/warmverbs"})
        self.give_libc(bed.BUILD / "src/preload/libwarmverbs.so.0")
        self.assertEqual(self.serve(), {"run/warmverbs"})
        os.truncate(self.image / "lib64/libc.so.6", 1000)
        self.assertEqual(self.serve(), {"run/warmverbs"})

    def test_one_of_two_does_not_fit(self):
        self.give_libc(loaded_libc())
        (self.image / "usr/lib").mkdir(parents=True)
        (self.image / "usr/lib/libc.so.6").write_text("text")
        self.assertEqual(self.serve(), {"run/warmverbs"})

    def test_library_of_the_image(self):
        self.give_libc(loaded_libc())
        env = ["PATH=/bin", "LD_PRELOAD=/opt/libx.so:/opt/libwarmverbs.so.0"]
        self.assertEqual(self.serve(process={"env": env}), {"run/warmverbs"})

    def test_links_lead_nowhere(self):
        """Folders that the image has as links to the outside."""
        self.give_libc(loaded_libc())
        (self.image / "etc").rmdir()
        (self.image / "etc").symlink_to("../outside")
        (self.image / "run").rename(self.image / "run.0")
        for target in (self.outside, "../outside", "/proc/self/root/tmp"):
            (self.image / "run").unlink(missing_ok=True)
            (self.image / "run").symlink_to(target)
            self.assertEqual(self.serve(), set())

    def test_places_that_are_something_else(self):
        self.give_libc(loaded_libc())
        (self.image / "run/warmverbs").symlink_to(self.outside)
        self.assertEqual(self.serve(), set())
        (self.image / "run/warmverbs").unlink()
        os.mkfifo(self.image / "run/libwarmverbs.so.0")
        self.assertEqual(self.serve(), {"run/warmverbs"})

    def test_libc_that_is_something_else(self):
        """A pipe, which must not be waited for; and a link to a libc outside."""
        os.mkfifo(self.image / "lib64/libc.so.6")
        self.assertEqual(self.serve(), {"run/warmverbs"})
        (self.image / "lib64/libc.so.6").unlink()
        (self.image / "lib64/libc.so.6").symlink_to(loaded_libc())
        self.assertEqual(self.serve(), {"run/warmverbs"})


def loaded_libc():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if line.rstrip().endswith("/libc.so.6"))


if __name__ == "__main__":
    cases.main()
