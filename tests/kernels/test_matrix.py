#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`hashdist plan` held against real kernels that are booted now: the quick part of the matrix.

HASHDIST_BIN is the program; HASHDIST_LAB_OUT keeps the guests' results.
"""

import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import matrix  # noqa: E402


def main():
    binary = os.environ.get("HASHDIST_BIN", "")
    keep = os.environ.get("HASHDIST_LAB_OUT")
    with tempfile.TemporaryDirectory(prefix="hashdist-matrix-") as tmp:
        out = keep or tmp
        return matrix.main(["run", "--quick", "--out", out]) or matrix.main(["check", out, binary])


if __name__ == "__main__":
    sys.exit(main())
