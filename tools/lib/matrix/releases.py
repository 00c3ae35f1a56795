# SPDX-License-Identifier: BSD-2-Clause
"""The releases of Debian that warmverbs is tested on, and which of them this machine has."""

import dataclasses
import pathlib

OS_RELEASE = pathlib.Path("/etc/os-release")
DEBIAN_VERSION = pathlib.Path("/etc/debian_version")


@dataclasses.dataclass(frozen=True)
class Release:
    name: str  # as the mirror has it
    title: str
    # Compilers of a stable release do not change; those of sid may warn of something new on any day.
    werror: bool = True


RELEASES = {
    release.name: release
    for release in (
        Release("bookworm", "Debian 12"),
        Release("trixie", "Debian 13"),
        Release("sid", "Debian sid", werror=False),
    )
}


def of_this_machine(os_release=OS_RELEASE, debian_version=DEBIAN_VERSION):
    """The name of this machine's release, or None if it is none of RELEASES."""
    lines = os_release.read_text().splitlines() if os_release.exists() else []
    about = dict(line.partition("=")[::2] for line in lines)
    # os-release of sid has the name of the release that comes next.
    sid = debian_version.exists() and debian_version.read_text().strip().endswith("/sid")
    name = "sid" if sid else about.get("VERSION_CODENAME", "").strip('"')
    return name if name in RELEASES else None


def others():
    return [name for name in RELEASES if name != of_this_machine()]
