# SPDX-License-Identifier: MIT
"""memcached, its hash table made at start, items in slabs of 1 MiB."""

import hashlib

import base


class Program(base.Server):
    ITEMS, VALUE, OPTIONS = 100000, b"v" * 400, ["-o", "hashpower=20"]

    def command(self):
        return [base.need("memcached"), "-u", "root", "-m", "256", "-t", "2", *self.OPTIONS,
                "-s", self.path("socket")]

    def load(self):
        link = self.connect()
        text = b"".join(
            b"set key-%d 0 0 %d noreply\r\n%s%07d\r\n" % (i, len(self.VALUE) + 7, self.VALUE, i)
            for i in range(self.ITEMS)
        )
        base.exchange(link, text + b"mn\r\n", lambda answer: answer.endswith(b"MN\r\n"))
        link.close()

    def digest(self):
        link = self.connect()
        text = b"".join(b"get key-%d\r\n" % i for i in range(0, self.ITEMS, 7))
        answer = base.exchange(link, text + b"mn\r\n", lambda got: got.endswith(b"MN\r\n"))
        link.close()
        return hashlib.sha256(answer).hexdigest()
