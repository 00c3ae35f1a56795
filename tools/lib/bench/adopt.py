# SPDX-License-Identifier: BSD-2-Clause
"""Adoption natively: bench/adopt.c and bench/roundtrip.c, which need no device."""

import subprocess

from products import ROOT

from .results import figures, row

TIMES = 5000
RECORDS = ("rc_pingpong", "rping", "srq_pingpong")


def measure(products, runs):
    rows = []
    for name in RECORDS:
        record = ROOT / "tests" / "fixtures" / f"{name}.0.record"
        samples = [run(products.bench("adopt"), TIMES, record) for _ in range(runs)]
        sample = samples[0]
        rows.append(
            row(
                f"command of {name}",
                plain=[each["system_calls"] / each["commands"] for each in samples],
                warm=[each["claims"] / each["commands"] for each in samples],
                commands=sample["commands"],
                lease_bytes=sample["lease_bytes"],
                note="plain: a system call that does nothing",
            )
        )
        rows.append(round_trip(products, runs, name, sample["lease_bytes"]))
    return rows


def round_trip(products, runs, name, lease_bytes):
    samples = [run(products.bench("roundtrip"), TIMES, lease_bytes)["round_trip"] for _ in range(runs)]
    return row(f"asking for a lease of {name}", warm=samples, lease_bytes=lease_bytes, note=f"{lease_bytes} bytes")


def run(*command):
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True)
    return figures(result.stdout.decode())
