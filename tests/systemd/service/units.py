# SPDX-License-Identifier: BSD-2-Clause
"""The installed units: what systemd does with them, and says about them."""

import json
import pathlib
import subprocess

from suite.report import require
from suite.resources import until

SERVICE = "warmverbsd.service"
SOCKET = "warmverbsd.socket"
RUNTIME_UNITS = pathlib.Path("/run/systemd/system")
DROP_IN = RUNTIME_UNITS / f"{SERVICE}.d" / "test.conf"
PATIENCE_S = 300  # until the daemon has come back, on a busy machine


def systemctl(*words):
    """Runs systemctl, which must succeed; returns what it prints."""
    result = subprocess.run(["systemctl", *words], capture_output=True, text=True, check=False)
    require(result.returncode == 0,
            f"systemctl {' '.join(words)} ended with {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def show(name, unit=SERVICE):
    """A property of a unit."""
    return systemctl("show", "--value", f"--property={name}", unit).strip()


def is_active(unit=SERVICE):
    return show("ActiveState", unit) == "active"


def main_pid():
    return int(show("MainPID"))


def await_state(state, unit=SERVICE):
    require(until(lambda: show("ActiveState", unit) == state, PATIENCE_S, 0.3),
            f"{unit} does not become {state}: {show('ActiveState', unit)}, {show('Result', unit)}")


def await_other_daemon(pid):
    """Waits until systemd has started the daemon again, after the process pid."""
    require(until(lambda: is_active() and main_pid() not in (0, pid), PATIENCE_S, 0.3),
            f"the service is not started again: {show('ActiveState')}, {show('Result')}")


def drop_in(*lines):
    """Changes the service as `systemctl edit` does."""
    DROP_IN.parent.mkdir(parents=True, exist_ok=True)
    DROP_IN.write_text("\n".join(["[Service]", *lines, ""]))
    systemctl("daemon-reload")


def remove_drop_in():
    if DROP_IN.exists():
        DROP_IN.unlink()
        systemctl("daemon-reload")


def status_fields(pid):
    """/proc/PID/status as a dictionary."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


class Journal:
    """What is written to the journal from now on."""

    def __init__(self):
        out = self._ask("--lines=0", "--show-cursor")
        self._cursor = out.partition("-- cursor: ")[2].strip()

    @staticmethod
    def _ask(*options):
        return subprocess.run(["journalctl", "--quiet", *options], capture_output=True, text=True, check=True).stdout

    def entries(self, *options):
        """Entries about the service: its own, and those of systemd.

        Not --after-cursor: with a filter, that of systemd 252 leaves out the first entry.
        """
        out = self._ask("--unit=" + SERVICE, "--output=json", "--cursor=" + self._cursor, *options)
        entries = [json.loads(line) for line in out.splitlines()]
        return [entry for entry in entries if entry["__CURSOR"] != self._cursor]

    def messages(self, *options):
        return [entry["MESSAGE"] for entry in self.entries(*options)]

    def await_message(self, text, *options):
        """Waits for an entry whose message contains the text; returns the entry."""
        def find():
            return next((entry for entry in self.entries(*options) if text in entry["MESSAGE"]), None)
        entry = until(find, PATIENCE_S, 0.3)
        require(entry, f"the journal does not say {text!r}, but {self.messages()}")
        return entry
