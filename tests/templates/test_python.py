#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Python scripts that start from templates, beside the same scripts executed; and a launcher in Python."""

import os
import signal
import subprocess

import python_template
import template
from python_template import ENV, PYTHON
from support import cases
from template import until

SCRIPT = """\
import json, os, random, sys, hashlib
import helper
print(sys.argv, __name__, __file__, sys.path[0], helper.VALUE, os.environ.get("WORD"), os.getcwd())
print(sorted(name for name in os.environ if name not in ("_", "LC_CTYPE")))
print(sys.stdin.read(), sys.stdout.line_buffering, sys.stdin.encoding, sys.flags.hash_randomization)
print("error", file=sys.stderr)
if len(sys.argv) > 2:
    print(random.random(), os.urandom(4).hex())
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""


class Python(python_template.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "helper.py").write_text("VALUE = 7\n", encoding="utf-8")
        self.script.write_text(SCRIPT, encoding="utf-8")

    def run_from(self, *arguments, env=None, **kwargs):
        return template.run_client(self.socket, [PYTHON, *arguments], env=env or ENV, **kwargs)

    def same(self, *arguments, env=None, **kwargs):
        kwargs = {"input": "text", **kwargs}
        plain = subprocess.run([PYTHON, *arguments], env=env or ENV, capture_output=True, text=True, check=False,
                               **kwargs)
        started = self.run_from(*arguments, env=env, **kwargs)
        self.assertEqual((started.returncode, started.stdout, started.stderr),
                         (plain.returncode, plain.stdout, plain.stderr))

    def test_script(self):
        self.supervise("json", "hashlib")
        self.same(str(self.script))
        self.same(str(self.script), "3")
        self.same(str(self.script), env={**ENV, "WORD": "one"})
        self.same("script.py", "4", cwd=self.folder)

    def test_random(self):
        """No two starts have the same random numbers."""
        self.supervise("random")
        results = [self.run_from(str(self.script), "0", "x", input="") for _ in range(5)]
        self.assertEqual({result.stderr for result in results}, {"error\n"})
        self.assertEqual(len({result.stdout.splitlines()[-1] for result in results}), 5)

    def test_memory(self):
        """What a module has made can grow, and be freed, as after exec."""
        (self.folder / "helper.py").write_text("import array\nVALUE = array.array('B', bytes(400000))\n",
                                               encoding="utf-8")
        self.script.write_text("import helper\nhelper.VALUE.extend(bytes(64 << 20))\n"
                               "print(len(helper.VALUE), sum(helper.VALUE[::4096]))\n", encoding="utf-8")
        self.supervise("helper")
        self.same(str(self.script))

    def test_names_of_main(self):
        self.script.write_text("print(sorted(globals()), __name__, __file__, __loader__.__class__)\n"
                               "import sys\nprint(sys.stdin.name, sys.stdout.name, sys.stdin.newlines, sys.argv)\n"
                               "print([line for line in sys.stdin])\n", encoding="utf-8")
        self.supervise()
        self.same(str(self.script), input="one\r\ntwo\n")

    def test_exception(self):
        self.script.write_text("def fail():\n    raise ValueError('wrong')\n\n\nfail()\n", encoding="utf-8")
        self.supervise()
        self.same(str(self.script))

    def test_unbuffered(self):
        self.script.write_text("import os\nprint('said', end='')\nos._exit(3)\n", encoding="utf-8")
        for value in None, "1":
            with self.subTest(value):
                env = {**ENV, **({"PYTHONUNBUFFERED": value} if value else {})}
                self.socket = str(self.folder / f"template{value}")
                self.supervise(env=env)
                self.same(str(self.script), env=env)

    def test_streams_that_modules_keep(self):
        (self.folder / "helper.py").write_text("import logging, sys\nlogging.basicConfig(stream=sys.stdout)\n"
                                               "VALUE = logging.getLogger()\n", encoding="utf-8")
        self.script.write_text("import helper, os, sys\nprint('one')\nhelper.VALUE.warning('two')\nprint('three')\n"
                               "print(os.environb.get(b'WORD'), sys.stdin.buffer.__class__)\n", encoding="utf-8")
        self.supervise("helper")
        self.same(str(self.script), env={**ENV, "WORD": "1"})

    def test_ignored_signals(self):
        self.script.write_text("import signal\nprint(signal.getsignal(signal.SIGHUP))\n", encoding="utf-8")
        self.supervise()
        self.same(str(self.script), preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))

    def test_interrupted(self):
        self.script.write_text("import atexit\natexit.register(print, 'at exit')\nraise KeyboardInterrupt\n",
                               encoding="utf-8")
        self.supervise()
        self.same(str(self.script))

    def test_file_that_a_module_reads(self):
        config = self.folder / "config"
        (self.folder / "helper.py").write_text(f"try:\n    VALUE = open({str(config)!r}).read()\n"
                                               "except OSError:\n    VALUE = 7\n", encoding="utf-8")
        supervisor = self.supervise("helper")
        self.same(str(self.script))
        config.write_text("8", encoding="utf-8")
        self.assertIn(" 8 ", self.run_from(str(self.script), input="").stdout)
        supervisor.wait(template.LIMIT_S)

    def test_module_that_writes(self):
        """What it has made would be there for the first start only, if that removes it."""
        (self.folder / "helper.py").write_text(f"open({str(self.folder / 'made')!r}, 'w').close()\n", encoding="utf-8")
        process = self.supervise("helper")
        self.assertIn("has written, made or removed", process.communicate(timeout=template.LIMIT_S)[1])

    def test_relative_folder_of_modules(self):
        process = self.supervise(env={**ENV, "PYTHONPATH": ENV["PYTHONPATH"] + ":."})
        self.assertIn("relative folder", process.communicate(timeout=template.LIMIT_S)[1])

    def test_home(self):
        """Where modules of the user are."""
        self.supervise()
        result = self.run_from(str(self.script), env={**ENV, "HOME": "/nowhere"}, input="")
        self.assertIn("HOME", result.stderr)

    def test_time_zone(self):
        self.supervise()
        result = self.run_from(str(self.script), env={**ENV, "TZ": "Asia/Tokyo"}, input="")
        self.assertIn("TZ", result.stderr)

    def test_other_script(self):
        other = self.folder / "other.py"
        other.write_text("print('other')\n", encoding="utf-8")
        self.supervise()
        result = self.run_from(str(other))
        self.assertEqual(result.stdout, "other\n")
        self.assertIn("another script", result.stderr)

    def test_module_changes(self):
        """The template ends; the next start has the new module."""
        supervisor = self.supervise("json", "helper")
        (self.folder / "helper.py").write_text("VALUE = 8\n", encoding="utf-8")
        self.assertIn(" 8 ", self.run_from(str(self.script), input="").stdout)
        self.assertEqual(supervisor.wait(template.LIMIT_S), 0)

    def test_module_appears(self):
        """In a folder of a package, where a module of it was searched for."""
        (self.folder / "package").mkdir()
        (self.folder / "package/__init__.py").write_text("", encoding="utf-8")
        (self.folder / "helper.py").write_text("try:\n    from package.inner import VALUE\n"
                                               "except ImportError:\n    VALUE = 7\n", encoding="utf-8")
        supervisor = self.supervise("helper")
        self.same(str(self.script))
        (self.folder / "package/inner.py").write_text("VALUE = 8\n", encoding="utf-8")
        self.assertIn(" 8 ", self.run_from(str(self.script), input="").stdout)
        self.assertEqual(supervisor.wait(template.LIMIT_S), 0)

    def test_variable_that_was_read(self):
        self.supervise()
        result = self.run_from(str(self.script), env={**ENV, "PYTHONHASHSEED": "1"}, input="")
        self.assertIn("PYTHONHASHSEED", result.stderr)

    def test_launcher(self):
        import warmverbs_template  # pylint: disable=import-outside-toplevel
        self.supervise()
        read, write = os.pipe()
        with open(os.devnull, "rb") as nothing, open(read, "rb") as output:
            argv = [PYTHON, str(self.script), "5"]
            with warmverbs_template.start(self.socket, argv, ENV, (nothing.fileno(), write, write),
                                          template.LIMIT_S) as started:
                os.close(write)
                self.assertIn(b"__main__", output.read())
                self.assertEqual(os.waitstatus_to_exitcode(started.wait()), 5)
            with self.assertRaises(warmverbs_template.NotStarted) as caught:
                warmverbs_template.start(self.socket, [PYTHON, "/etc/hostname"], ENV, timeout=template.LIMIT_S)
            self.assertIn("another script", str(caught.exception))

    def test_close_kills(self):
        """Of a program that has not ended."""
        import warmverbs_template  # pylint: disable=import-outside-toplevel
        self.script.write_text("import time\nprint('up', flush=True)\ntime.sleep(100)\n", encoding="utf-8")
        self.supervise()
        read, write = os.pipe()
        with open(os.devnull, "rb") as nothing, open(read, "rb") as output:
            started = warmverbs_template.start(self.socket, [PYTHON, str(self.script)], ENV,
                                               (nothing.fileno(), write, write), template.LIMIT_S)
            os.close(write)
            self.assertEqual(output.readline(), b"up\n")
            started.close()
            self.assertEqual(output.read(), b"")

    def test_signal(self):
        self.script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGUSR1)\n", encoding="utf-8")
        self.supervise()
        result = self.run_from(str(self.script))
        self.assertEqual((result.returncode, result.stderr), (-signal.SIGUSR1, ""))


if __name__ == "__main__":
    template.main()
