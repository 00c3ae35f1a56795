# SPDX-License-Identifier: BSD-2-Clause
"""Tests on soft-RoCE: real programs and those of tests/programs, with and without warmverbs."""
