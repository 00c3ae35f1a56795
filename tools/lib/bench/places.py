# SPDX-License-Identifier: BSD-2-Clause
"""Where a part of a benchmark is measured: HERE, or a function that takes the built programs and a folder for results,
and returns the words to put before the command that measures."""

from products import ROOT

JOB_SECONDS = 3 * 3600

HERE = None


def lab(*options):
    """In the virtual machine."""

    def words(_, out):
        return [ROOT / "tools" / "lab", "run", *options, "--timeout", str(JOB_SECONDS), "--out", out, "--"]

    return words


def on_standin(model, nodes=1):
    """On this machine, with the stand-in HCA for a device, of each of several nodes."""
    run = ROOT / "tests" / "standin" / "run"

    def words(built, _):
        return [run, "--build", built.folder, "--model", model, "--nodes", str(nodes), "--"]

    return words
