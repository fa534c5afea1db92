# SPDX-License-Identifier: MIT
"""memcached whose hash table grows under load, several times."""

import memcached


class Program(memcached.Program):
    ITEMS, VALUE, OPTIONS = 420000, b"v" * 50, []
