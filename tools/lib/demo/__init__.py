# SPDX-License-Identifier: BSD-2-Clause
"""The demonstration. See `tools/demo --help`."""
