# SPDX-License-Identifier: MIT
"""redis-server, which brings its own allocator, and saves by a child of fork()."""

import base


class Program(base.Server):
    ITEMS = 200000

    def command(self):
        return [base.need("redis-server"), "--port", "0", "--unixsocket", self.path("socket"),
                "--save", "", "--dir", self.directory, "--enable-debug-command", "yes",
                "--logfile", self.path("log"), "--loglevel", "warning"]

    def ask(self, *words):
        link = self.connect()
        request = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        text = base.exchange(link, b"*%d\r\n" % len(words) + request, lambda got: b"\r\n" in got)
        link.close()
        return text

    def load(self):
        link = self.connect()
        value = b"v" * 200
        text = b"".join(b"SET key-%d %s%d\r\n" % (i, value, i) for i in range(self.ITEMS))
        base.exchange(link, text, lambda got: len(got) >= 5 * self.ITEMS)
        link.close()

    def save(self):
        """In a child, which shares all memory; returns the size of what it wrote."""
        self.ask(b"CONFIG", b"SET", b"rdbcompression", b"no")
        before = self.ask(b"LASTSAVE")
        self.ask(b"BGSAVE")
        end = base.time.monotonic() + 60
        while self.ask(b"LASTSAVE") == before and base.time.monotonic() < end:
            base.time.sleep(0.2)
        return base.os.path.getsize(self.path("dump.rdb"))

    def saving(self):
        """What INFO tells of the child: does it write now, and how did the last one end?"""
        link = self.connect()
        text = base.exchange(link, b"*2\r\n$4\r\nINFO\r\n$11\r\npersistence\r\n",
                             lambda got: b"rdb_last_bgsave_status" in got and got.endswith(b"\r\n\r\n"))  # fmt: skip
        link.close()
        fields = dict(line.split(":", 1) for line in text.decode().splitlines() if ":" in line)
        return fields["rdb_bgsave_in_progress"] == "1", fields["rdb_last_bgsave_status"]

    def digest(self):
        return self.ask(b"DEBUG", b"DIGEST").decode()
