# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest image is built from its sources alone: built twice, in two places, the bytes are the same, and what is in
it is what the kernel and the plans need. The disk template too is the same each time it is made."""
import filecmp
import os
import shutil
import stat
import struct
import subprocess
import tempfile
import time

from guest_boot import make_disk

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def entries(archive):
    """(name, mode, size) of each member of a newc archive."""
    offset = 0
    while True:
        header = archive[offset:offset + 110]
        assert header[:6] == b"070701", header
        fields = [int(header[6 + 8 * i:14 + 8 * i], 16) for i in range(13)]
        name = archive[offset + 110:offset + 110 + fields[11] - 1].decode()
        offset = (offset + 110 + fields[11] + 3) & ~3
        if name == "TRAILER!!!":
            return
        assert fields[2:4] == [0, 0] and fields[5] == 0, "owner and time are fixed"
        yield name, fields[1], archive[offset:offset + fields[6]]
        offset = (offset + fields[6] + 3) & ~3


def needs_loader(program):
    """Does a 64-bit ELF file have a PT_INTERP header?"""
    start, = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    return any(struct.unpack_from("<I", program, start + i * size)[0] == 3 for i in range(count))


def build(source, directory):
    output = os.path.join(directory, "build")
    subprocess.run(["make", "-s", "-C", source, f"BUILD={output}", f"{output}/guest.cpio"], check=True)
    return os.path.join(output, "guest.cpio")


def test_image(scratch):
    first = build(TOP, os.path.join(scratch, "one"))
    copy = os.path.join(scratch, "elsewhere")
    for folder in ("guest-image", "web", "db"):
        shutil.copytree(os.path.join(TOP, folder), os.path.join(copy, folder))
    shutil.copy(os.path.join(TOP, "Makefile"), copy)
    second = build(copy, os.path.join(scratch, "two"))
    assert filecmp.cmp(first, second, shallow=False), "two builds differ"
    with open(first, "rb") as file:
        archive = file.read()
    assert len(archive) % 512 == 0
    members = {name: (mode, data) for name, mode, data in entries(archive)}
    names = list(members)
    for name in ("init", "bin/aging", "bin/pwrite", "bin/readtwice"):
        mode, data = members[name]
        assert mode == stat.S_IFREG | 0o755 and data[:4] == b"\x7fELF", name
        assert not needs_loader(data), f"{name} is not static"
        assert os.fsencode(TOP) not in data, f"{name} holds the place where it was built"
    for name in ("dev", "proc", "sys", "mnt/tmpfs", "mnt/disk"):
        assert members[name][0] == stat.S_IFDIR | 0o755, name
    assert stat.S_ISCHR(members["dev/console"][0])
    assert names.index("mnt") < names.index("mnt/disk")


def test_disk(scratch):
    paths = [os.path.join(scratch, name) for name in ("disk-1", "disk-2")]
    make_disk(paths[0], 16)
    time.sleep(1.1)
    make_disk(paths[1], 16)
    assert filecmp.cmp(*paths, shallow=False), "two disks differ"
    assert os.stat(paths[0]).st_size == 16 << 20
    assert os.stat(paths[0]).st_blocks * 512 < 1 << 20, "the disk is not sparse"


def main():
    with tempfile.TemporaryDirectory(prefix="guest-image-") as scratch:
        test_image(scratch)
        test_disk(scratch)


if __name__ == "__main__":
    main()
