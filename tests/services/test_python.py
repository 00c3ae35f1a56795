#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs in Python that offer services and are connected to them: warmverbs_service and warmverbs_verbs."""

import pathlib
import subprocess
import unittest
from unittest import mock

from support import bed, cases
import talking
import test_calls

PYTHON = "/usr/bin/python3"  # Debian's, which pyverbs is for
SOURCES = pathlib.Path(__file__).resolve().parents[2]
ENV = {"PYTHONPATH": str(SOURCES / "src/service/python"), "LD_LIBRARY_PATH": str(bed.BUILD / "src/service"),
       "PYTHONDONTWRITEBYTECODE": "1"}
CONNECTED = test_calls.CONNECTED

# What the scripts below begin with. In the process of a service, its library's thread answers the connects of another.
BEGIN = """
import asyncio, errno, faulthandler, gc, select, sys, threading
from warmverbs_service import CAME, LEFT, Offer, connect, release
from warmverbs_verbs import *

faulthandler.dump_traceback_later(60, exit=True)

def fails(kind, number, words, function, *arguments, **more):
    try:
        function(*arguments, **more)
    except kind as error:
        assert number is None or error.errno == number, error
        assert words in str(error), error
    else:
        assert False, (number, words)

context = Context()
pd = PD(context)
cq = CQ(context, 256)
mr = MR(pd, 4096, 7)
qp = QPInitAttr(cq, cq)
like = {"pd": pd, "qp": qp}
"""


class Talker(talking.Talker):
    command, env = [PYTHON, str(SOURCES / "tests/services/talker.py")], ENV


@unittest.skipIf(bed.SANITIZED, "Python's own leaks and races are not the question")
class Python(talking.Case):
    """Both ends are talker.py, which is told the same as talker.c is."""

    def setUp(self):
        super().setUp()
        patch = mock.patch.object(talking, "Talker", Talker)
        patch.start()
        self.addCleanup(patch.stop)

    check_traffic = test_calls.Calls.check_traffic
    await_came = test_calls.Calls.await_came
    test_other_node = test_calls.Calls.test_other_node
    test_this_node = test_calls.Calls.test_this_node
    test_messages = test_calls.Calls.test_messages
    test_absent = test_calls.Calls.test_absent
    test_taken = test_calls.Calls.test_taken
    test_leaving = test_calls.Calls.test_leaving
    test_service_disconnects = test_calls.Calls.test_service_disconnects
    test_stopped_service = test_calls.Calls.test_stopped_service
    test_no_daemon = test_calls.Calls.test_no_daemon
    test_ahead_gone = test_calls.Calls.test_ahead_gone
    test_fork = test_calls.Calls.test_fork

    def test_child_that_closes(self):
        """What a child closes stays its parent's."""
        server, client = self.offer(), talking.Talker(self.a)
        self.assertEqual(self.call(client), CONNECTED)
        self.assertEqual(server.next(), ["came 0"])
        for talker in (server, client):
            talker.say("fork ms=0")
        self.check_traffic(server, client)
        self.assertEqual(self.call(client), CONNECTED)
        self.assertEqual(server.next(), ["came 1"])


@unittest.skipIf(bed.SANITIZED, "Python's own leaks and races are not the question")
class Scripts(talking.Case):
    """Both ends are on b, in one process."""

    def start(self, text, **env):
        env = {**ENV, "WARMVERBS_SOCKET": str(self.b.daemon.socket), **env}
        return self.b.start(["-c", BEGIN + text], False, program=PYTHON, env=env)

    def run_script(self, text, **env):
        result = self.start(text, **env).finish()
        self.assertEqual((result.status, result.errors), (0, ""), result.lines)

    def test_errors(self):
        """Each is an OSError of the usual class, and says what to do."""
        self.run_script(r"""
fails(FileNotFoundError, errno.ENOENT, "is it offered there", connect, "store", **like)
fails(OSError, errno.EHOSTUNREACH, "warmverbs peers", connect, "store", "192.0.2.9", **like)
fails(OSError, errno.EINVAL, "no known host", connect, "store", "there..is.none", **like)
with Offer("store", **like):
    fails(FileExistsError, errno.EEXIST, "another name", Offer, "store", **like)
fails(OSError, errno.EINVAL, "1 to 31 bytes", Offer, "x" * 32, **like)
fails(OSError, errno.EINVAL, "NUL", Offer, "a\0b", **like)
fails(OSError, errno.EINVAL, "196 bytes", Offer, "store", data=bytes(197), **like)
fails(OSError, errno.EINVAL, "mrs: 4", Offer, "store", mrs=[mr] * 5, **like)
fails(OSError, errno.EINVAL, "port_num: 257", Offer, "store", port=257, **like)
fails(OSError, errno.EINVAL, "ready: -1", Offer, "store", ready=-1, **like)
fails(OSError, errno.EINVAL, "ahead: 4294967297", connect, "store", ahead=(1 << 32) + 1, **like)
fails(OSError, errno.EINVAL, "type RC", Offer, "store", pd=pd, qp=qp._replace(qp_type=4))
fails(OSError, errno.EINVAL, "two CQs", Offer, "store", pd=pd, qp=qp._replace(recv_cq=None))
for wrong in None, 0, "pd", cq, context:
    fails(TypeError, None, "no pd", Offer, "store", pd=wrong, qp=qp)
    fails(TypeError, None, "no pd", MR, wrong, 4096, 7)
fails(TypeError, None, "no cq", Offer, "store", pd=pd, qp=qp._replace(send_cq=pd))
fails(TypeError, None, "no context", CQ, pd, 16)
fails(OSError, errno.ENODEV, "ibv_devices", Context, "nothing0")
""")

    def test_no_service(self):
        self.run_script('fails(ConnectionRefusedError, errno.ECONNREFUSED, "start warmverbsd", Offer, "store", **like)',
                        WARMVERBS_SOCKET="/nowhere")
        self.run_script('fails(OSError, errno.EOPNOTSUPP, "WARMVERBS_DISABLE", connect, "store", **like)',
                        WARMVERBS_DISABLE="1")
        self.run_script('fails(OSError, errno.ELIBACC, "install", Offer, "store", **like)', LD_LIBRARY_PATH="/nowhere")

    def test_asyncio(self):
        """Events by a descriptor; what the two ends know of each other; messages and memory."""
        self.run_script(r"""
async def main():
    with Offer("store", mrs=[mr], data=b"\0data\0", access=IBV_ACCESS_REMOTE_READ, **like) as offer:
        events, loop = asyncio.Queue(), asyncio.get_running_loop()
        loop.add_reader(offer, lambda: [events.put_nowait(event) for event in offer])
        with connect("store", "localhost", **like) as client:
            kind, server = await events.get()
            assert kind == CAME and server.qp.qp_num != client.qp.qp_num
            assert (server.regions, server.data) == ([], b"")
            assert (client.regions, client.data) == ([(mr.buf, mr.length, mr.rkey)], b"\0data\0")
            mr.memory[:4], mr.memory[8:12] = b"ping", b"    "
            server.qp.post_recv([mr.sge(8, 2), mr.sge(10, 2)][:1], wr_id=1 << 40)
            client.qp.post_send(IBV_WR_SEND_WITH_IMM, [mr.sge(0, 2)], wr_id=7, imm_data=0x01020304)
            found = []
            while len(found) < 2:
                found += cq.poll()
            assert {wc.status for wc in found} == {IBV_WC_SUCCESS}, [wc.status for wc in found]
            received = next(wc for wc in found if wc.wr_id == 1 << 40)
            assert (received.byte_len, received.imm_data, received.qp_num) == (2, 0x01020304, server.qp.qp_num)
            assert mr.memory[8:12] == b"pi  "
        assert await events.get() == (LEFT, server)
        server.disconnect()
        loop.remove_reader(offer)
asyncio.run(main())
""")

    def test_nothing_is_left(self):
        program = self.start("""
with context, pd, cq, mr:
    with Offer("store", ready=8, mrs=[mr], **like) as offer:
        clients = [connect("store", ahead=4, **like) for _ in range(4)]
        servers = []
        while len(servers) < 4:
            select.select([offer], [], [])
            servers += [server for _, server in offer]
        clients[0].disconnect()
        clients[1].close()
        clients[1].close()
    release(pd)
    for each in clients, servers:
        for connection in each:
            connection.disconnect()
print("@left", flush=True)
sys.stdin.readline()
fails(ValueError, None, "closed", offer.fileno)
fails(ValueError, None, "closed", offer.next)
fails(ValueError, None, "closed", lambda: clients[0].qp.post_recv())
fails(ValueError, None, "closed", cq.poll)
fails(ValueError, None, "closed", connect, "store", **like)
""")
        program.reach("left")
        self.assertEqual({kind: n for kind, n in self.b.ctl("objects").items() if n}, {})
        result = program.finish()
        self.assertEqual((result.status, result.errors), (0, ""))

    def test_order_of_ends(self):
        """What is still in use is not destroyed, and can be closed again."""
        self.run_script(r"""
with Offer("store", **like) as offer:
    fails(OSError, errno.EBUSY, "before", cq.close)
mr.close()
cq.close()
pd.close()
context.close()
""")

    def test_without_references(self):
        """What nobody refers to any more is still there for the adapter, and for the other end."""
        self.run_script(r"""
bytes_of = bytearray(b"kept" * 1024)
offer = Offer("store", pd=pd, qp=QPInitAttr(cq, cq), mrs=[MR(pd, bytes_of, 7)], access=IBV_ACCESS_REMOTE_READ)
fails(BufferError, None, "", bytes_of.clear)
connection = connect("store", **like)
del offer, bytes_of
gc.collect()
connection.qp.post_send(IBV_WR_RDMA_READ, [mr.sge(0, 4096)], *connection.regions[0][::2])
while not (found := cq.poll()):
    pass
assert found[0].status == IBV_WC_SUCCESS and mr.memory[:] == b"kept" * 1024
""")

    def test_requests(self):
        """Those that verbs refuse, or would not do as they are told."""
        self.run_script(r"""
with Offer("store", **like) as offer, connect("store", **like) as client:
    fails(ValueError, None, "within the 4096", mr.sge, 4000, 97)
    fails(ValueError, None, "within the 4096", mr.sge, -1)
    fails(OSError, errno.EINVAL, "length: 4294967296", client.qp.post_send, IBV_WR_SEND, [(mr.buf, 1 << 32, mr.lkey)])
    fails(OSError, errno.ENOMEM, "queue is full", lambda: [client.qp.post_recv([mr.sge()]) for _ in range(1000)])
""")

    def test_threads(self):
        """Some connect and disconnect, one takes the events, and others disconnect what came."""
        self.run_script(r"""
failed, came, left = [], [], []
offer = Offer("store", ready=16, **like)
def use():
    try:
        for _ in range(25):
            with connect("store", timeout=20, **like):
                pass
    except BaseException as error:
        failed.append(error)
        raise
clients = [threading.Thread(target=use) for _ in range(4)]
ends = []
for thread in clients:
    thread.start()
while any(thread.is_alive() for thread in clients):
    select.select([offer], [], [], 0.1)
    for kind, connection in offer:  # a client that has left before is not told
        (came if kind == CAME else left).append(connection)
        if kind == CAME:
            ends.append(threading.Thread(target=connection.disconnect))
            ends[-1].start()
for thread in ends:
    thread.join()
assert came and set(left) <= set(came) and not failed
offer.withdraw()
cq.close()  # nothing is left on it
""")

    def test_pyverbs(self):
        """Objects of pyverbs serve, or are refused for the reason that is said."""
        if subprocess.run([PYTHON, "-c", "import pyverbs"], env=bed.CLEAN, check=False, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL).returncode:
            self.skipTest("python3-pyverbs is not installed")
        self.run_script(r"""
import pyverbs.cq, pyverbs.device, pyverbs.mr, pyverbs.pd, pyverbs.qp
theirs = pyverbs.device.Context(name=pyverbs.device.get_device_list()[0].name.decode())
pd, cq = pyverbs.pd.PD(theirs), pyverbs.cq.CQ(theirs, 64)
mr = pyverbs.mr.MR(pd, 4096, 7)
qp = pyverbs.qp.QPInitAttr(qp_type=IBV_QPT_RC, scq=cq, rcq=cq, cap=pyverbs.qp.QPCap(16, 16, 1, 1))
if hasattr(pyverbs.qp.QP, "qp"):
    mr.write(b"from pyverbs", 12)
    with Offer("store", pd=pd, qp=qp, access=IBV_ACCESS_REMOTE_READ, mrs=[mr]) as offer, \
            connect("store", pd=pd, qp=qp) as client:
        region = client.regions[0]
        client.qp.post_send(IBV_WR_RDMA_READ, [(mr.buf + 64, 12, mr.lkey)], region.addr, region.rkey)
        n = 0
        while not n:
            n, completions = cq.poll()
        assert completions[0].status == IBV_WC_SUCCESS and mr.read(12, 64) == b"from pyverbs"
else:
    fails(TypeError, None, "before rdma-core 61", Offer, "store", pd=pd, qp=qp)
    fails(TypeError, None, "before rdma-core 61", release, pd)
for each in mr, cq, pd:
    each.close()
""")

    def test_example(self):
        """That of docs/services.md, beside service.c: each is read by the other, from the other node."""
        text = (SOURCES / "docs/services.md").read_text(encoding="utf-8")
        python = [PYTHON, "-c", text.partition("```python\n")[2].partition("```\n")[0]]
        c = [test_calls.EXAMPLE]
        for server, client in (python, python), (python, c), (c, python):
            with self.subTest(server=server[0], client=client[0]):
                offering = self.run_example(self.b, server)
                self.assertEqual(offering.process.stdout.readline(), "offered\n", offering.errors())
                read = self.run_example(self.a, [*client, self.b.address]).finish()
                self.assertEqual((read.status, read.lines, read.errors), (0, ["good morning"], ""))
                offering.close()

    @staticmethod
    def run_example(node, command):
        env = {**ENV, "WARMVERBS_SOCKET": str(node.daemon.socket)}
        return node.start(command[1:], False, program=command[0], env=env)


if __name__ == "__main__":
    cases.main()
