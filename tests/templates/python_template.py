# SPDX-License-Identifier: BSD-2-Clause
"""A Python script with a template."""

import os
import subprocess

import template
from template import MODULE, children, until

PYTHON = "/usr/bin/python3"
ENV = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(MODULE), "WARMVERBS_VERBOSE": "1",
       "LD_LIBRARY_PATH": str(template.BUILD / "src/template"),
       "PATH": f"{template.BUILD / 'src/template'}:{os.environ['PATH']}"}


class Case(template.Case):
    def setUp(self):
        super().setUp()
        self.script = self.folder / "script.py"
        self.socket = str(self.folder / "template")

    def supervise(self, *modules, env=None):
        process = subprocess.Popen([PYTHON, "-m", "warmverbs_template", "--socket", self.socket, "--import",
                                    ",".join(modules), str(self.script)], env=env or ENV, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)

        def end():
            process.terminate()
            return process.communicate(timeout=template.LIMIT_S)[1]
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and end())
        until(lambda: process.poll() is not None or len(children(process.pid)) >= 2, "ready children")
        return process
