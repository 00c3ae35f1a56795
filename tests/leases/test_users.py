#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real programs that come to verbs through a library of their own: DAPL, and Ceph's messenger."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import bed, cases, trace
from support.ports import free_port, is_listened_to

DTEST_PORT = 15828  # fixed by dtest
FEW = ["-b", "64", "-B", "4"]

CEPH = """[global]
fsid = {fsid}
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
mon_host = 127.0.0.1:{port}
ms_type = async+rdma
ms_async_rdma_device_name = mlx5_0
ms_async_rdma_local_gid = 0000:0000:0000:0000:0000:ffff:c000:0201
ms_async_rdma_receive_buffers = 128
ms_async_rdma_receive_queue_len = 64
ms_async_rdma_send_buffers = 64
ms_async_op_threads = 1
mon_data = {folder}/mon
run_dir = {folder}
admin_socket = {folder}/$name.asok
log_file = {folder}/$name.log
pid_file = {folder}/$name.pid
"""
FSID = "11111111-2222-3333-4444-555555555555"


def said(result):
    """Its output without what differs in every run: numbers and blanks, and what dtest finds in its peer's buffer, which
    it reads without waiting for the peer to have filled it."""
    varies = r"(?<=read buffer contains:).*|0x[0-9a-f]+|\b[0-9a-f]*\d[0-9a-f.]*|\s+"
    return result.status, [re.sub(varies, "", line) for line in result.lines]


def left_to_kernel(result):
    return [e for e in result.events if e.makes and e.how == trace.KERNEL]


@unittest.skipIf(bed.SANITIZED, "sanitizers tell of races in these programs' own libraries")
class Users(bed.Case):
    def setUp(self):
        super().setUp()
        self.own_folder = pathlib.Path(tempfile.mkdtemp(prefix="users."))
        self.addCleanup(shutil.rmtree, self.own_folder)

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")

    def check(self, run):
        """run(warm) returns the results of a server and of its client."""
        plain = run(False)
        self.assertEqual([result.status for result in plain], [0, 0], plain[1].lines + [plain[1].errors])
        for _ in cases.attempts(free=2):  # the first is recorded; threads may come in another order than recorded
            results = run(True)
            self.assertEqual(list(map(said, results)), list(map(said, plain)), results[1].errors)
            if all(result.leased and not left_to_kernel(result) for result in results):
                return
            self.await_leases()
        self.fail(f"left to the kernel: {[[str(e) for e in left_to_kernel(result)] for result in results]}")

    def dtest(self, warm):
        words, env = ["-P", "mlx5", *FEW], {"DAT_OVERRIDE": str(self.own_folder / "dat.conf")}
        bed.until(lambda: not is_listened_to(DTEST_PORT), "its port is free")
        server = self.start(words, warm, program="dtest", env=env)
        bed.until(lambda: is_listened_to(DTEST_PORT) or server.process.poll() is not None, "the server listens")
        client = self.start([*words, "-h", "127.0.0.1"], warm, program="dtest", env=env)
        results = client.finish(), server.finish()
        return results[::-1]

    def test_dapl(self):
        self.need("dtest")
        (self.own_folder / "dat.conf").write_text(
            'mlx5 u2.0 nonthreadsafe default libdaploscm.so.2 dapl.2.0 "mlx5_0 1" ""\n')
        self.check(self.dtest)

    def make_monitor(self):
        folder, self.port = self.own_folder, free_port()
        configuration = folder / "ceph.conf"
        configuration.write_text(CEPH.format(fsid=FSID, port=self.port, folder=folder))
        for words in (
                ["monmaptool", "--create", "--add", "a", f"127.0.0.1:{self.port}", "--fsid", FSID, folder / "map"],
                ["ceph-authtool", "--create-keyring", folder / "key", "--gen-key", "-n", "mon.", "--cap", "mon", "allow *"],
                ["ceph-mon", "-c", configuration, "--mkfs", "-i", "a", "--monmap", folder / "map", "--keyring",
                 folder / "key"]):
            subprocess.run(words, env=bed.CLEAN, check=True, capture_output=True, timeout=bed.LIMIT_S)

    def monitor(self, warm):
        common = ["-c", str(self.own_folder / "ceph.conf")]
        server = self.start([*common, "-i", "a", "-f"], warm, program="ceph-mon")
        bed.until(lambda: is_listened_to(self.port) or server.process.poll() is not None, "the monitor listens")
        client = self.start([*common, "--connect-timeout", "60", "mon", "stat"], warm, program="ceph").finish()
        server.process.terminate()
        return server.finish(), client

    def test_ceph(self):
        self.need("ceph-mon", "monmaptool", "ceph-authtool", "ceph")
        self.make_monitor()
        self.check(self.monitor)


if __name__ == "__main__":
    bed.main()
