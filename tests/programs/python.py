# SPDX-License-Identifier: MIT
"""Python with a large dict."""

import os
import sys

import base

SCRIPT = """
import hashlib, sys
table = {i * 7919: "value-%d" % i for i in range(600000)}
print("loaded", flush=True)
sys.stdin.read()
print(hashlib.sha256(repr(sorted(table.items())[::97]).encode()).hexdigest())
"""


class Program(base.Filter):
    def command(self):
        return [os.path.realpath(sys.executable), "-c", SCRIPT]

    def load(self):
        self.process.stdout.readline()
