# SPDX-License-Identifier: MIT
"""sort(1) with all lines in memory."""

import base


class Program(base.Filter):
    def command(self):
        return [base.need("sort"), "-S", "256M"]

    def input(self):
        return b"".join(b"%010d some text to sort by\n" % (i * 7919 % 1000003) for i in range(900000))
