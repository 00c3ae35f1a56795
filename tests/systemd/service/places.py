# SPDX-License-Identifier: BSD-2-Clause
"""Where things are installed."""

import pathlib

DAEMON = pathlib.Path("/usr/local/sbin/warmverbsd")
UNIT = pathlib.Path("/usr/local/lib/systemd/system/warmverbsd.service")
# What the service runs in place of the daemon: it sees neither home folders nor /tmp.
HELPERS = pathlib.Path("/usr/local/lib/warmverbs-tests")
