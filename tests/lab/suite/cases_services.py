# SPDX-License-Identifier: BSD-2-Clause
"""Services (docs/services.md): a program offers memory under a name, and another is connected to it and reads it."""

from .report import Case, require_equal

TOPIC = "services"


def greeting(lab, warm):
    """docs/examples/service.c, both sides; what the client prints."""
    program = str(lab.build.folder / "docs/examples/example_service")
    env = {"WARMVERBS_SOCKET": str(lab.socket)}
    server = lab.start([program], warm, env)
    server.await_text("offered")
    client = lab.run([program, "localhost"], warm, env)
    require_equal(client.exact(), (0, "good morning\n"), "the client's status and output")
    require_equal(server.wait().status, 0, "the service's status")


def test(lab):
    lab.start_daemon()
    for warm in (False, True, True):
        greeting(lab, warm)
        lab.settle()


def cases():
    return [Case(TOPIC, "the example, plainly and with leases", test)]
