# SPDX-License-Identifier: MIT
"""A static Go program: hjson-cli, which rewrites JSON."""

import json

import base


class Program(base.Writer):
    STATIC = True

    def command(self):
        return [base.need("hjson-cli"), "-j"]

    def input(self):
        rows = [{"id": i, "name": f"row {i}", "values": [i, i * 2]} for i in range(60000)]
        return json.dumps(rows).encode()
