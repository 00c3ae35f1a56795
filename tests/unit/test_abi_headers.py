#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The create methods of the ABI table against the installed kernel headers: what each attribute is has been decided.

    test_abi_headers.py INCLUDE_FOLDER VERSION_OF_LIBIBVERBS FOLDER_OF_THE_TABLE

Headers may be newer than the table. A command with an attribute that they have and the table has not goes to the
kernel, which is right, but not from a lease: the test then says which these are, and counts as skipped.
"""

import pathlib
import re
import sys

SKIPPED = 77
EXAMINED = 65  # the last release of rdma-core whose headers were read

# enum in a header, and the file with the rows that name its attributes
ENUMS = {
    "uverbs_attrs_create_cq_cmd_attr_ids": ("ib_user_ioctl_cmds.h", "rows.h"),
    "uverbs_attrs_create_qp_cmd_attr_ids": ("ib_user_ioctl_cmds.h", "rows.h"),
    "uverbs_attrs_create_srq_cmd_attr_ids": ("ib_user_ioctl_cmds.h", "rows.h"),
    "uverbs_attrs_get_context_attr_ids": ("ib_user_ioctl_cmds.h", "core_rows.h"),
    "mlx5_ib_create_cq_attrs": ("mlx5_user_ioctl_cmds.h", "mlx5_rows.h"),
    "mlx5_ib_create_qp_attrs": ("mlx5_user_ioctl_cmds.h", "mlx5_rows.h"),
    "mlx5_ib_uar_alloc_attrs": ("mlx5_user_ioctl_cmds.h", "mlx5_rows.h"),
}
MAY_BE_MISSING = {"mlx5_ib_create_cq_attrs", "mlx5_ib_create_qp_attrs"}  # from headers before rdma-core 60

# Names of ours for what older headers do not have, and what newer ones call it.
NEWER = {
    "WV_OBJECT_DMAH": ("uverbs_default_objects", "UVERBS_OBJECT_DMAH"),
    "WV_METHOD_REG_MR": ("uverbs_methods_mr", "UVERBS_METHOD_REG_MR"),
    "WV_METHOD_QUERY_PORT_SPEED": ("uverbs_methods_device", "UVERBS_METHOD_QUERY_PORT_SPEED"),
    "WV_METHOD_DMAH_ALLOC": ("uverbs_methods_dmah", "UVERBS_METHOD_DMAH_ALLOC"),
    "WV_METHOD_DMAH_FREE": ("uverbs_methods_dmah", "UVERBS_METHOD_DMAH_FREE"),
    "WV_ATTR_REG_MR_HANDLE": ("uverbs_attrs_reg_mr_cmd_attr_ids", "UVERBS_ATTR_REG_MR_HANDLE"),
    "WV_ATTR_QUERY_PORT_SPEED_PORT_NUM": (
        "uverbs_attrs_query_port_speed_cmd_attr_ids", "UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM"),
    "WV_ATTR_QUERY_PORT_SPEED_RESP": (
        "uverbs_attrs_query_port_speed_cmd_attr_ids", "UVERBS_ATTR_QUERY_PORT_SPEED_RESP"),
    "WV_ATTR_ALLOC_DMAH_HANDLE": ("uverbs_attrs_alloc_dmah_cmd_attr_ids", "UVERBS_ATTR_ALLOC_DMAH_HANDLE"),
    "WV_ATTR_FREE_DMA_HANDLE": ("uverbs_attrs_free_dmah_cmd_attr_ids", "UVERBS_ATTR_FREE_DMA_HANDLE"),
}

# Left to the kernel on purpose: no lease can contain what they name.
LEFT = {
    # efa: a completion queue in memory that the program chose
    "UVERBS_ATTR_CREATE_CQ_BUFFER_VA",
    "UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH",
    "UVERBS_ATTR_CREATE_CQ_BUFFER_FD",
    "UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET",
    # queues and doorbell records in a dma-buf: of a confidential virtual machine, or of the program's own
    "UVERBS_ATTR_CREATE_CQ_BUF_UMEM",
    "UVERBS_ATTR_CREATE_QP_BUF_UMEM",
    "UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM",
    "UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM",
    "MLX5_IB_ATTR_CREATE_CQ_DBR_BUF_UMEM",
    "MLX5_IB_ATTR_CREATE_QP_DBR_BUF_UMEM",
    # a UAR page whose number does not fit the field for it
    "MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX",
    # descriptors of dma-bufs, for the same virtual machines
    "UVERBS_ATTR_GET_CONTEXT_FD_ARR",
}


def attributes(header, enum):
    """The names of an enum; none if the header does not have it."""
    body = re.search(rf"enum {enum} {{(.*?)}};", header, re.DOTALL)
    return re.findall(r"^\s*(\w+)", body[1], re.MULTILINE) if body else []


def in_table(rows):
    """The attributes that the macros of src/abi/rows.h name in a file."""
    core = re.findall(r"\b(?:ATTR|ANSWER)\((\w+),", rows)
    mlx5 = re.findall(r"\bMLX5_ATTR\((\w+),", rows)
    full = re.findall(r"\b(?:MLX5_IB|UVERBS)_ATTR_\w+", rows)
    return {*(f"UVERBS_ATTR_{name}" for name in core), *(f"MLX5_IB_ATTR_{name}" for name in mlx5), *full}


def undecided(include, table):
    for enum, (header, rows) in ENUMS.items():
        names = attributes((include / "rdma" / header).read_text(), enum)
        if not names and enum not in MAY_BE_MISSING:
            sys.exit(f"{header} has no enum {enum}")
        known = in_table((table / rows).read_text()) | LEFT
        yield from (name for name in names if name not in known)


def number(header, enum, name):
    """What an enum without values of its own gives the name; None if the header does not have it."""
    names = attributes(header, enum)
    return names.index(name) if name in names else None


def wrong_numbers(include, table):
    """The numbers that src/abi/abi.h has for older headers, where these headers say otherwise."""
    header = (include / "rdma" / "ib_user_ioctl_cmds.h").read_text()
    ours = dict(re.findall(r"#define (WV_\w+)\s+(\d+)$", (table / "abi.h").read_text(), re.MULTILINE))
    for ours_name, (enum, name) in NEWER.items():
        theirs = number(header, enum, name)
        if theirs is not None and theirs != int(ours[ours_name]):
            yield f"{ours_name} is {ours[ours_name]}, but {name} is {theirs}"


def main():
    include, version, table = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    release = int(version.split(".")[2])
    wrong = list(wrong_numbers(include, table))
    if wrong:
        sys.exit("\n".join(wrong))
    new = list(undecided(include, table))
    if not new:
        print(f"rdma-core {release}: every attribute of the create methods is decided")
        return 0
    print(f"rdma-core {release} has attributes that are neither in src/abi nor left to the kernel on purpose:")
    print("\n".join(f"  {name}" for name in new))
    print("Commands with them go to the kernel. docs/abi-table.md says how to add them.")
    return SKIPPED if release > EXAMINED else 1


if __name__ == "__main__":
    sys.exit(main())
