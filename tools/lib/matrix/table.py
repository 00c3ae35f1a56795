# SPDX-License-Identifier: BSD-2-Clause
"""The table of releases in docs/compatibility.md."""

import dataclasses

import products

PAGE = products.ROOT / "docs" / "compatibility.md"
HEAD = "| release | rdma-core | kernel | soft-RoCE | mlx5, on the stand-in |"
RULE = "| --- | --- | --- | --- | --- |"


@dataclasses.dataclass(frozen=True)
class Row:
    title: str
    rdma_core: str
    kernel: str
    rxe: object  # suites.Results of the lab
    mlx5: object  # suites.Results of the tests on this machine

    def __str__(self):
        kernel = self.kernel.partition("-")[0].partition("+")[0]
        return f"| {self.title} | {self.rdma_core} | {kernel} | {leased(self.rxe)} | {leased(self.mlx5)} |"


def of(rows):
    """The lines of a table of these rows; none if there are none."""
    return [HEAD, RULE, *map(str, rows)] if rows else []


def leased(results):
    if not results.passed:
        return "not tested"
    return f"{results.failed} of {results.passed + results.failed} tests fail" if results.failed else "leased"


def update(rows, page=PAGE):
    """Replace the rows of these releases, and add those that the table does not have."""
    lines = page.read_text().splitlines()
    start = lines.index(RULE) + 1
    end = next((i for i in range(start, len(lines)) if not lines[i].startswith("|")), len(lines))
    new = {title_of(str(row)): str(row) for row in rows}
    old = {title_of(line): line for line in lines[start:end]}
    lines[start:end] = (old | new).values()
    page.write_text("\n".join(lines) + "\n")


def title_of(line):
    return line.split("|")[1].strip()
