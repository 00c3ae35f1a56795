# SPDX-License-Identifier: BSD-2-Clause
"""Checks of the source tree that no compiler makes: layers, names, sizes, licence lines."""
