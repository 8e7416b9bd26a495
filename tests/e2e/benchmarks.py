# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
"""Each benchmark as a person runs it, alone on this machine: help, plain output, samples, exit codes."""
import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
USAGE, NOT_APPLICABLE = 2, 77


def run(name, *arguments, samples=False):
    """Runs a benchmark; returns the process and its samples."""
    argv = [os.path.join(BUILD, "guest", name), *map(str, arguments)]
    if not samples:
        return subprocess.run(argv, capture_output=True, text=True, timeout=120), []
    with tempfile.TemporaryFile("w+") as file:
        process = subprocess.run(argv + ["--samples-fd", str(file.fileno())], capture_output=True, text=True,
                                 timeout=120, pass_fds=[file.fileno()])
        file.seek(0)
        return process, [json.loads(line) for line in file]


def test_help():
    for name in ("aging", "pwrite", "readtwice"):
        process, _ = run(name, "--help")
        assert process.returncode == 0 and process.stdout.startswith(f"Usage: {name} "), process
        assert "--samples-fd" in process.stdout and process.stderr == ""
        process, _ = run(name, "--no-such-option")
        assert process.returncode == USAGE and "--no-such-option" in process.stderr, process


def test_pwrite_command(scratch):
    """The very command line of LibMicro, on a file that is there."""
    path = os.path.join(scratch, "file")
    with open(path, "wb") as file:
        file.write(b"x" * 4096)
    command = ["-E", "-C", "200", "-L", "-S", "-W", "-N", "pwrite_t1k", "-s", "1k", "-I", "500", "-f", path]
    process, samples = run("pwrite", *command, samples=True)
    assert process.returncode == 0, process
    lines = process.stdout.splitlines()
    assert lines[0].startswith("# ") and " ".join(command) in lines[0], lines[0]
    assert lines[1].split() == ["prc", "thr", "usecs/call", "samples", "errors", "cnt/samp", "size"], lines[1]
    figures = lines[2].split()
    assert figures[0] == "pwrite_t1k" and figures[1:3] == ["1", "1"] and figures[5] == "0" and figures[7] == "1024"
    assert re.search(r"^#\s+median\s+[\d.]+\s+%s$" % re.escape(figures[3]), process.stdout, re.M), process.stdout
    outliers = int(re.search(r"^#\s+number of outliers\s+(\d+)$", process.stdout, re.M)[1])
    kept = int(re.search(r"^#\s+number of samples\s+(\d+)$", process.stdout, re.M)[1])
    times = [sample for sample in samples if sample["metric"] == "time"]
    assert len(times) == kept + outliers > 201
    assert [sample["pass"] for sample in times] == list(range(len(times)))
    assert all(sample["value"] > 0 and sample["better"] == "lower" and sample["unit"] == "usecs/call"
               for sample in samples)
    median = [sample["value"] for sample in samples if sample["metric"] == "median"]
    assert "%.5f" % median[0] == figures[3]
    assert re.fullmatch(r"Running:\s+pwrite_t1k for\s+[\d.]+ seconds\n", process.stderr), process.stderr
    assert os.path.getsize(path) == 4096, "a write of 1k to the start leaves the size"


def test_pwrite_options(scratch):
    path = os.path.join(scratch, "new")
    process, samples = run("pwrite", "-H", "-C", 50, "-B", 10, "-P", 2, "-T", 2, "-s", "10k", "-f", path, samples=True)
    assert process.returncode == 0, process
    figures = process.stdout.split()
    assert figures[:3] == ["pwrite", "2", "2"] and figures[6:] == ["10", "10240"], process.stdout
    assert len(samples) > 51
    assert not os.path.exists(path), "a file that it made is removed"
    process, _ = run("pwrite", "-1", "-H", "-M", "-B", 10, "-f", "/dev/null")
    assert process.returncode == 0 and process.stdout.startswith("pwrite "), process
    process, _ = run("pwrite", "-H", "-B", 2, "-f", "/dev/full")
    assert process.returncode == 1 and "failed" in process.stderr, process
    process, _ = run("pwrite", "-f", os.path.join(scratch, "no", "such", "place"))
    assert process.returncode == 1 and "No such file" in process.stderr, process
    process, _ = run("pwrite", "-V")
    assert process.returncode == 0 and "LibMicro" in process.stdout


def test_readtwice(scratch):
    process, samples = run("readtwice", "--tasks", 3, "--size-mib", 12, scratch, samples=True)
    assert process.returncode == 0, process
    assert "3 files of 4 MiB, each read twice: 25.166 MB" in process.stdout, process.stdout
    assert {(s["metric"], s["unit"], s["better"], s["pass"]) for s in samples} == {
        ("throughput", "MB/s", "higher", 1), ("time", "ms", "lower", 1)}
    value = {sample["metric"]: sample["value"] for sample in samples}
    assert abs(value["throughput"] * value["time"] / 1e3 - 25.165824) < 1e-6
    assert not [name for name in os.listdir(scratch) if name.startswith("readtwice")]
    process, _ = run("readtwice", "/dev/shm")
    assert process.returncode == NOT_APPLICABLE and "block device" in process.stderr, process


def test_aging():
    if os.access("/sys/kernel/debug/lru_gen", os.W_OK):
        return
    process, _ = run("aging", "--size-mib", 1, "/dev/shm/regrlab-aging")
    assert process.returncode == NOT_APPLICABLE and "CONFIG_LRU_GEN" in process.stderr, process
    assert not os.path.exists("/dev/shm/regrlab-aging")


def test_init():
    process, _ = run("init")
    assert process.returncode == USAGE and "PID 1" in process.stderr, process


def main():
    # on a file system that is no tmpfs, which /tmp may be
    with tempfile.TemporaryDirectory(prefix="benchmarks-", dir="/var/tmp") as scratch:
        test_help()
        test_pwrite_command(scratch)
        test_pwrite_options(scratch)
        test_readtwice(scratch)
        test_aging()
        test_init()


if __name__ == "__main__":
    sys.exit(main())
