# SPDX-License-Identifier: BSD-2-Clause
"""Two nodes on the stand-in, with an adapter and a daemon each, whose daemons are peers."""

import contextlib
import importlib
import json
import os
import pathlib
import sys
import tempfile

import session
from products import ROOT

PEER_SECONDS = 30
NUMBERS = (1, 2)


def address(number):
    """As tests/standin/run gives it to a node."""
    return f"192.0.2.{number}"


@contextlib.contextmanager
def two(products):
    """Both nodes, which know each other."""
    if os.geteuid():
        raise session.SessionError("two nodes have addresses of their own: only root may make a network for them")
    with tempfile.TemporaryDirectory(prefix="warmverbs-peers-") as folder, contextlib.ExitStack() as stack:
        authority = support_authority().Authority(folder)
        both = [stack.enter_context(node(products, number, authority)) for number in NUMBERS]
        for each in both:
            session.wait_until(lambda node=each: is_up(node), PEER_SECONDS, each.log.read_text)
        yield both


def node(products, number, authority):
    certificate, key = authority.give(f"node{number}", f"IP:{address(number)}")
    others = ",".join(address(other) for other in NUMBERS if other != number)
    place = pathlib.Path(os.environ["STANDIN_FOLDER"], str(number))
    made = session.Node(
        products,
        *("--peers", others, "--peer-listen", address(number)),
        *("--peer-ca", authority.certificate, "--peer-certificate", certificate, "--peer-key", key),
        env={"SYSFS_PATH": str(place / "sys"), "STANDIN_SOCKET": str(place / "socket")},
    )
    made.address = address(number)
    return made


def is_up(node_):
    return all(peer["state"] == "up" for peer in json.loads(node_.ask("peers", "--json"))["peers"])


def support_authority():
    sys.path.append(str(ROOT / "tests"))
    return importlib.import_module("support.authority")
