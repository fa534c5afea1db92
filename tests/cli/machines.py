# SPDX-License-Identifier: MIT
"""Saved machines, made by hand: the files of /proc and /sys, and a log, as a kernel writes them.

    Machine("6.1.0-44-amd64", nodes=[8192, 8192])     MiB on each node, x86-64, 4K pages

The figures in a log come from whoever makes the machine: nothing here computes a table.
"""

from pathlib import Path

PAGE = 4096
MIB = 1 << 20


def table(name, entries, order, size, kind=None):
    """The line of one table, as kernels from 2.6.24 on print it."""
    words = f", {kind}" if kind else ""
    return f"{name} hash table entries: {entries} (order: {order}, {size} bytes{words})"


class Machine:
    def __init__(self, release, nodes, cmdline="", log=(), areas=(), head=True, **more):
        self.release = release
        self.nodes = nodes
        image = f"BOOT_IMAGE=/boot/vmlinuz-{release} root=/dev/sda1 ro quiet"
        self.cmdline = f"{image} {cmdline}".strip()
        self.log = list(log)
        self.areas = list(areas)  # (bytes, {node: pages})
        self.head = head  # the log reaches back to the boot
        self.dentries = more.pop("dentries", 40000)
        self.inodes = more.pop("inodes", 30000)
        self.uptime = more.pop("uptime", 600)
        self.faked = more.pop("faked", False)
        self.direct = more.pop("direct", "2M")
        assert not more, more

    @property
    def pages(self):
        return sum(self.nodes) * MIB // PAGE

    def log_text(self):
        lines = [
            f"Linux version {self.release} (debian-kernel@lists.debian.org) (gcc-12 (Debian "
            "12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC",
            f"Command line: {self.cmdline}",
            "BIOS-provided physical RAM map:",
            "BIOS-e820: [mem 0x0000000000000000-0x000000000009fbff] usable",
        ]
        if self.faked:
            lines += [
                f"Faking node {node} at [mem {self.range(node)}] ({size}MB)"
                for node, size in enumerate(self.nodes)
            ]
        lines += ["Early memory node ranges"]
        lines += [f"  node {node:3}: [mem {self.range(node)}]" for node in range(len(self.nodes))]
        lines += [
            f"Initmem setup node {node} [mem {self.range(node)}]" for node in range(len(self.nodes))
        ]
        lines += [
            "smpboot: Allowing 4 CPUs, 0 hotplug CPUs",
            "setup_percpu: NR_CPUS:8192 nr_cpumask_bits:4 nr_cpu_ids:4 "
            f"nr_node_ids:{len(self.nodes)}",
            f"Built {len(self.nodes)} zonelists, mobility grouping on.  Total pages: {self.pages}",
            f"Kernel command line: {self.cmdline}",
        ]
        early = [line for line in self.log if line.startswith(("Dentry", "Inode"))]
        late = [line for line in self.log if line not in early]
        kib = self.pages * PAGE // 1024
        lines += early
        lines += [
            f"Memory: {kib - 120000}K/{kib}K available (14345K kernel code, 2341K rwdata, "
            "9056K rodata, 2796K init, 17404K bss, 120000K reserved, 0K cma-reserved)"
        ]
        lines += late
        if not self.head:
            lines = ["usb 1-1: new high-speed USB device number 2 using xhci_hcd"] * 20
        return "".join(f"[{at * 0.01:12.6f}] {line}\n" for at, line in enumerate(lines))

    def range(self, node):
        begin = sum(self.nodes[:node]) * MIB
        end = begin + self.nodes[node] * MIB - 1
        return f"0x{begin:016x}-0x{end:016x}"

    def node_list(self):
        return "0" if len(self.nodes) == 1 else f"0-{len(self.nodes) - 1}"

    def files(self):
        kib = self.pages * PAGE // 1024
        direct = {"2M": (40960, kib - 40960), "4K": (kib, 0)}[self.direct]
        sizes = "".join(
            f"Node {node}, zone   Normal\n  pages free     1000\n"
            f"        spanned  {size * MIB // PAGE}\n        present  {size * MIB // PAGE}\n"
            f"        managed  {size * MIB // PAGE - 8000}\n"
            for node, size in enumerate(self.nodes)
        )
        areas = "".join(
            f"0xffffc900{16 * MIB * at:08x}-0xffffc900{16 * MIB * at + size + PAGE:08x} "
            f"{size + PAGE} alloc_large_system_hash+0x1a8/0x35b pages={size // PAGE} vmalloc"
            + "".join(f" N{node}={pages}" for node, pages in spread.items())
            + "\n"
            for at, (size, spread) in enumerate(self.areas)
        )
        node_dir = "sys/devices/system/node"
        files = {
            "hashdist-saved": "format 1\narch x86_64\npage_bytes 4096\ncontainer 0\n",
            "proc/version": f"Linux version {self.release} #1 SMP PREEMPT_DYNAMIC\n",
            "proc/sys/kernel/osrelease": self.release + "\n",
            "proc/cmdline": self.cmdline + "\n",
            "proc/meminfo": f"MemTotal:       {kib - 32000 * len(self.nodes)} kB\n"
            f"VmallocTotal:   34359738367 kB\nHugepagesize:       2048 kB\n"
            f"DirectMap4k:    {direct[0]} kB\nDirectMap2M:    {direct[1]} kB\n",
            "proc/zoneinfo": sizes,
            "proc/uptime": f"{self.uptime}.07 {self.uptime * 3}.11\n",
            "proc/vmallocinfo": "0x0000000000000000-0x0000000000000000    8192 "
            "acpi_os_map_iomem+0x1bc/0x1e0 phys=0x00000000000a0000 ioremap\n" + areas,
            "proc/sys/fs/dentry-state": f"{self.dentries}\t{self.dentries - 5000}\t45\t0\t900\t0\n",
            "proc/sys/fs/inode-state": f"{self.inodes}\t0\t0\t0\t0\t0\t0\n",
            "proc/net/sockstat": "sockets: used 150\nTCP: inuse 12 orphan 0 tw 3 alloc 15 mem 2\n"
            "UDP: inuse 4 mem 1\nUDPLITE: inuse 0\n",
            "proc/slabinfo": "slabinfo - version: 2.1\n# name <active_objs> <num_objs>\n",
            "proc/self/mountinfo": "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
            f"boot/config-{self.release}": "CONFIG_64BIT=y\nCONFIG_SMP=y\nCONFIG_NUMA=y\n"
            "CONFIG_HAVE_ARCH_HUGE_VMALLOC=y\n",
            "sys/devices/system/cpu/possible": "0-3\n",
            "sys/devices/system/cpu/online": "0-3\n",
            f"{node_dir}/possible": self.node_list() + "\n",
            f"{node_dir}/online": self.node_list() + "\n",
            f"{node_dir}/has_memory": self.node_list() + "\n",
            f"{node_dir}/has_normal_memory": self.node_list() + "\n",
            f"{node_dir}/has_cpu": self.node_list() + "\n",
            "var/log/dmesg": self.log_text(),
        }
        for node, size in enumerate(self.nodes):
            files[f"{node_dir}/node{node}/meminfo"] = (
                f"Node {node} MemTotal:       {size * 1024 - 32000} kB\n"
                f"Node {node} MemFree:        {size * 512} kB\n"
            )
            files[f"{node_dir}/node{node}/cpulist"] = "0-3\n" if node == 0 else "\n"
        return files

    def write(self, directory):
        for name, text in self.files().items():
            path = Path(directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return str(directory)
