# SPDX-License-Identifier: BSD-2-Clause
"""The facts of the kernel that warmverbs relies on (tests/kernel); in the virtual machine none may be skipped."""

import os

from .report import Case, Skip, require_equal

FACTS = ["doorbell", "event_token", "handles", "last_descriptor", "map_once", "passed_ufile", "path_only",
         "qp_reset", "query_device", "removal"]


def fact(name):
    def run(lab):
        result = lab.run([str(lab.build.kernel_tests / name)])
        if result.status == 77 and os.environ.get("LAB") != "vm":
            raise Skip(result.out.strip())
        require_equal(result.status, 0, f"exit status of {name} ({result.out.strip()})")
    return run


def cases():
    return [Case("kernel", name, fact(name)) for name in FACTS]
