# SPDX-License-Identifier: BSD-2-Clause
"""What ends a soak."""


class Wrong(Exception):
    """A wrong result, or something that was left; the text says which."""
