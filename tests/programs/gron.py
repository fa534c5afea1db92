# SPDX-License-Identifier: MIT
"""A Go program with the C library: gron, which flattens JSON."""

import json

import base


class Program(base.Writer):
    def command(self):
        return [base.need("gron"), "--monochrome"]

    def input(self):
        rows = [{"id": i, "name": f"row {i}", "values": [i, i * 2]} for i in range(40000)]
        return json.dumps(rows).encode()
