# SPDX-License-Identifier: MIT
"""sqlite3 with a cache that holds the whole database."""

import base

TABLE = """PRAGMA cache_size=-131072; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c INTEGER);
INSERT INTO t SELECT value, printf('%0200d', value), value * 7919 % 100003
 FROM generate_series(1, 200000);
CREATE INDEX i ON t(c);
SELECT 'loaded';
"""
QUERY = """COMMIT; SELECT sum(c), count(DISTINCT c), max(b) FROM t WHERE c BETWEEN 100 AND 90000;
"""


class Program(base.Filter):
    def command(self):
        return [base.need("sqlite3"), "-batch", self.path("base.db")]

    def load(self):
        self.process.stdin.write(TABLE.encode())
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line == b"loaded\n":
                break

    def digest(self):
        self.process.stdin.write(QUERY.encode())
        return super().digest()
