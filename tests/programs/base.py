# SPDX-License-Identifier: MIT
"""Real programs with large memory, each behind the same few calls.

A module of this directory has one class Program:

  start(prefix)  begins it, with the words of @prefix in front of its command
  load()         brings its memory to full size; it then holds it
  pids()         processes whose memory is meant
  digest()       of what it computed or stored: the same in every run
  stop()         ends it; returns its exit status

Everything is below the directory it is given; sockets are local ones.
"""

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time


class Missing(Exception):
    """A program that is not installed."""


def need(name):
    path = shutil.which(name)
    if path is None:
        raise Missing(name)
    return path


class Base:
    def __init__(self, directory):
        self.directory = directory
        self.process = None

    def command(self):
        raise NotImplementedError

    def start(self, prefix=()):
        with open(self.path("stderr"), "wb") as messages:
            self.process = subprocess.Popen(
                [*prefix, *self.command()],
                cwd=self.directory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                env={**os.environ, "LC_ALL": "C"},
            )

    def path(self, name):
        return os.path.join(self.directory, name)

    def pids(self):
        return [self.process.pid]

    def messages(self):
        with open(self.path("stderr"), encoding="utf-8", errors="replace") as file:
            return file.read()


class Filter(Base):
    """Reads all of standard input into memory before it writes: the input is left open."""

    def input(self):
        raise NotImplementedError

    def load(self):
        self.process.stdin.write(self.input())
        self.process.stdin.flush()

    def digest(self):
        self.process.stdin.close()
        return hashlib.sha256(self.process.stdout.read()).hexdigest()

    def stop(self):
        self.process.stdout.close()
        return self.process.wait(60)


class Writer(Base):
    """Has all in memory before it writes, and then waits for a reader of its output."""

    def input(self):
        raise NotImplementedError

    def load(self):
        def feed():
            self.process.stdin.write(self.input())
            self.process.stdin.close()

        self.feeder = threading.Thread(target=feed)
        self.feeder.start()
        self.first = self.process.stdout.read(1)

    def digest(self):
        self.feeder.join()
        return hashlib.sha256(self.first + self.process.stdout.read()).hexdigest()

    def stop(self):
        self.process.stdout.close()
        return self.process.wait(60)


class Server(Base):
    """Listens on a socket of the directory."""

    def connect(self):
        end = time.monotonic() + 20
        while True:
            link = socket.socket(socket.AF_UNIX)
            try:
                link.connect(self.path("socket"))
                return link
            except OSError:
                link.close()
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(60)


def exchange(link, request, is_end):
    """Sends and receives at once: a server stops reading when nobody takes its answers."""
    sender = threading.Thread(target=link.sendall, args=(request,))
    sender.start()
    answer = bytearray()
    while not is_end(answer):
        part = link.recv(1 << 16)
        if not part:
            break
        answer += part
    sender.join()
    return bytes(answer)
