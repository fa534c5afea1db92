# SPDX-License-Identifier: MIT
"""A static program: busybox's sort."""

import base


class Program(base.Filter):
    STATIC = True

    def command(self):
        return [base.need("busybox"), "sort"]

    def input(self):
        return b"".join(b"%010d some text to sort by\n" % (i * 7919 % 1000003) for i in range(400000))
