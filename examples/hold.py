# SPDX-License-Identifier: MIT
"""hold.py SECONDS - a program with one table of 64 MiB, filled page by page; keeps it a while"""
import sys
import time

table = bytearray(64 << 20)
for at in range(0, len(table), 4096):
    table[at] = 1
print("filled", flush=True)
time.sleep(float(sys.argv[1]))
