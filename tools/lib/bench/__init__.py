# SPDX-License-Identifier: BSD-2-Clause
"""Benchmarks of warmverbs. See `tools/bench --help`."""
