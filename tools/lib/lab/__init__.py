# SPDX-License-Identifier: BSD-2-Clause
"""The lab: runs a command where RDMA exists. See `tools/lab --help`."""
