# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the installed units: the service, its socket and its sandbox, under systemd."""
