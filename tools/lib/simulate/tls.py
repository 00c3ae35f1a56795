# SPDX-License-Identifier: BSD-2-Clause
"""What a TLS connection between daemons takes, measured with this machine's OpenSSL. No network: both ends are here."""

import pathlib
import ssl
import subprocess
import tempfile
import time

PAGE = 4096
BEFORE, MEASURED = 50, 500
MESSAGE = 128


def contexts(folder):
    """A server's and a client's, each with the certificate that it requires of the other."""
    key, certificate = pathlib.Path(folder, "key"), pathlib.Path(folder, "certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
         "-subj", "/CN=node", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )
    for protocol in (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT):
        context = ssl.SSLContext(protocol)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(certificate)
        yield context


class Connection:
    def __init__(self, server, client):
        ends = [ssl.MemoryBIO() for _ in range(4)]
        self.server = server.wrap_bio(ends[0], ends[1], server_side=True)
        self.client = client.wrap_bio(ends[2], ends[3])
        self._ways = ((ends[3], ends[0]), (ends[1], ends[2]))
        self.handshake_bytes = 0
        pending = [self.client.do_handshake, self.server.do_handshake]
        while pending:
            pending = [step for step in pending if self._wants_more(step)]
        self._wants_more(lambda: self.client.read(1))  # the session tickets

    def _wants_more(self, step):
        try:
            step()
        except ssl.SSLWantReadError:
            return True
        finally:
            self.handshake_bytes += self.carry()
        return False

    def carry(self):
        """Moves what was sent to the other end; returns the number of bytes."""
        moved = 0
        for source, target in self._ways:
            data = source.read()
            moved += target.write(data)
        return moved

    def message_bytes(self):
        self.client.write(bytes(MESSAGE))
        return self.carry()


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * PAGE


def measure():
    with tempfile.TemporaryDirectory() as folder:
        server, client = contexts(folder)
    kept = [Connection(server, client) for _ in range(BEFORE)]
    memory, processor = resident(), time.process_time()
    kept += [Connection(server, client) for _ in range(MEASURED)]
    processor = time.process_time() - processor
    memory = resident() - memory
    return {
        "library": ssl.OPENSSL_VERSION,
        "bytes_of_one_end": round(memory / MEASURED / 2),
        "handshake_bytes": kept[-1].handshake_bytes,
        "handshake_us_of_one_end": round(processor / MEASURED / 2 * 1e6),
        "added_to_a_message": kept[-1].message_bytes() - MESSAGE,
    }
