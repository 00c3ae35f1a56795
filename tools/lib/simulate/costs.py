# SPDX-License-Identifier: BSD-2-Clause
"""What everything costs, and who says so. Times are microseconds."""

import dataclasses
import json

from products import ROOT

MODELS = {"a": "connectx-5.15.conf", "b": "today.conf"}
MODEL_FOLDER = ROOT / "tests" / "standin" / "models"

# Firmware commands, as `standin-hca ctl counts` lists them for `bench/ready rc` and for the end of its process. In the
# simulation, no other command comes between those of one group: an event for each would take three times as long.
OPEN_TO_INIT = (
    ("CREATE_UCTX", "ALLOC_TRANSPORT_DOMAIN", "QUERY_SPECIAL_CONTEXTS"),
    ("QUERY_NIC_VPORT_CONTEXT", "QUERY_NIC_VPORT_CONTEXT", "QUERY_HCA_CAP"),
    ("QUERY_ADAPTER", "ACCESS_REG", "ALLOC_UAR", "ALLOC_PD"),
    ("CREATE_CQ", "ALLOC_UAR"),
    ("CREATE_QP", "RST2INIT_QP"),
)
ONE_MORE_QP = (("CREATE_QP", "RST2INIT_QP"),)
CONNECT = (("INIT2RTR_QP", "RTR2RTS_QP"),)
PUT_BACK = (("2RST_QP", "RST2INIT_QP"),)
END_QP = (("2RST_QP", "DESTROY_QP"),)
END_CONTEXT = (("DESTROY_CQ", "DEALLOC_PD", "DEALLOC_UAR", "DEALLOC_UAR"),)

ASSUMED = "assumption"


@dataclasses.dataclass(frozen=True)
class Constant:
    value: float
    unit: str
    what: str
    source: str


CONSTANTS = {
    "software_plain": Constant(
        990, "us", "open to INIT with plain verbs, without firmware", "README, `standin`, firmware that takes no time"
    ),
    "software_lease": Constant(560, "us", "open to INIT from a lease", "README, the same row, with warmverbs"),
    "qp_bytes": Constant(
        36864, "bytes", "queues of one QP, 64 deep each way", "`warmverbs recipes show`, the same program"
    ),
    "tls_bytes": Constant(
        26400, "bytes", "memory of one end of a TLS connection", "`tools/simulate tls`, OpenSSL 3.0.19"
    ),
    "tls_handshake_bytes": Constant(
        2907, "bytes", "on the wire, TLS 1.3, P-256 certificates on both sides", "`tools/simulate tls`"
    ),
    "tls_handshake_cpu": Constant(850, "us", "processor time of one end for a handshake", "`tools/simulate tls`"),
    "tls_record_bytes": Constant(22, "bytes", "added to a message", "`tools/simulate tls`"),
    "device_qps": Constant(
        262144, "QPs", "max_qp of a device", "ibv_devinfo of an adapter in github.com/ofiwg/libfabric/pull/9940"
    ),
    "leases_per_recipe": Constant(64, "leases", "limit of a pool", "warmverbsd.conf(5), max-leases-per-recipe"),
    "lease_idle": Constant(600e6, "us", "after which an unused pool is halved", "warmverbsd.conf(5), idle-time"),
    "burst": Constant(1e6, "us", "claims that count as one burst", "src/daemon/pool/policy.h, WV_BURST_US"),
    "refill_delay": Constant(20e3, "us", "without requests, before leases are made", "warmverbsd.conf(5)"),
    "postponed": Constant(10, "times", "that this delay is prolonged at most", "src/daemon/pool/scheduler.c"),
    "builders": Constant(4, "threads", "of the daemon, which make leases", "docs/architecture.md, Builders"),
    "spares_at_least": Constant(2, "QPs", "spares of a server", "src/preload/stock/stock.h, WV_STOCK_AT_LEAST"),
    "spares_at_most": Constant(16, "QPs", "spares of a server", "src/preload/stock/stock.h, WV_STOCK_SPARES"),
    "spares_idle": Constant(5e6, "us", "after which they are given back", "src/preload/stock/stock.h"),
    "makers": Constant(1, "thread", "of a server process, which makes spares", "src/preload/spares/maker.h"),
    "hop": Constant(50, "us", "a message from process to process, TCP or rdma_cm", ASSUMED),
    "read": Constant(5, "us", "an RDMA READ of 4 KB", ASSUMED),
    "message_bytes": Constant(128, "bytes", "a message between daemons", ASSUMED),
    "packet_bytes": Constant(66, "bytes", "Ethernet, IPv4 and TCP headers with time stamps, of each message", "RFCs"),
    "keepalive": Constant(30e6, "us", "between two keep-alive messages of a connection", ASSUMED),
    "peer_idle": Constant(60e6, "us", "after which daemons close a connection that is not used", ASSUMED),
}


@dataclasses.dataclass(frozen=True)
class Costs:
    """The constants, and the times of the firmware commands of one model."""

    firmware: dict
    constants: dict

    def __getattr__(self, name):
        try:
            return self.constants[name]
        except KeyError:
            raise AttributeError(name) from None

    def times(self, groups):
        """The time of each group. As in the stand-in, a command that the model does not name takes none."""
        return [sum(self.firmware.get(command, 0.0) for command in group) for group in groups]


def load(model):
    """The costs with the stand-in's model "a" or "b"."""
    return with_firmware(read_model(MODEL_FOLDER / MODELS[model]))


def with_firmware(firmware, **changes):
    values = {name: constant.value for name, constant in CONSTANTS.items()}
    return Costs(firmware, {**values, **changes})


def read_model(file):
    """{command: us} of a model of the stand-in."""
    lines = [line.partition("#")[0].split() for line in file.read_text().splitlines()]
    return {words[0]: float(words[1]) for words in lines if words}


def table():
    """The constants as lines of text."""
    return "\n".join(f"{name:<20} {each.value:>10g} {each.unit:<8} {each.what} ({each.source})"
                     for name, each in CONSTANTS.items())


def as_json():
    return json.dumps({name: dataclasses.asdict(each) for name, each in CONSTANTS.items()}, indent=2)
