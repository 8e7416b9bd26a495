# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1800
"""Boots the guest image under plain QEMU on the kernel that $KERNEL names, or else on the tree's own."""
import os
import sys

from guest_boot import Plan, boot, check_stream
from reallab import base_kernel

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
IMAGE = os.path.join(BUILD, "guest.cpio")
PWRITE = "/bin/pwrite -E -C 200 -L -S -W -N pwrite_t1k -s 1k -I 500 -B 40 -f /mnt/tmpfs/pwrite"
AGING = "/bin/aging --nproc 2 --size-mib 16 --passes 4 /mnt/tmpfs/aging"


def same_boots(kernel):
    """Everything in one plan, twice: whole streams, and under icount nearly the same figures."""
    boots = []
    for _ in range(2):
        plan = Plan(disk=True)
        plan.run("aging", "nproc=2;lru=mglru", 1, 60, "mglru", AGING)
        plan.run("pwrite", "lru=mglru", 1, 60, "mglru", PWRITE)
        plan.run("pwrite", "lru=classic", 1, 60, "classic", PWRITE)
        plan.run("readtwice", "lru=mglru", 1, 120, "mglru", "/bin/readtwice --tasks 2 --size-mib 64 /mnt/disk")
        result = boot(kernel, IMAGE, plan, timeout_s=600)
        check_stream(result, plan)
        boots.append(result)
        hello = result.lines[0]
        assert hello["cpus"] == 2 and hello["thp"] in ("never", "absent") and hello["swap"] == "off", hello
        assert [start["lru"] for start in result.of_type("start")] == ["mglru", "mglru", "classic", "mglru"]
        assert [end["status"] for end in result.of_type("run-end")] == [0, 0, 0, 0], result.of_type("log")
        assert len(result.values("aging", "time", warm_up=True)) == 5
        assert len(result.values("aging", "time")) == 4
        assert len(result.values("pwrite", "median")) == 2
        assert len(result.values("readtwice", "throughput")) == 1
        counters = {(line["benchmark"], line["name"]) for line in result.of_type("counter")}
        assert ("aging", "vmstat.pgfault") in counters and ("aging", "memcg.pgfault") in counters
        assert all(line["before"] != line["after"] for line in result.of_type("counter"))
        print(f"boot: {result.wall_s:.1f} s, {result.cpu_s:.1f} s of CPU, {len(result.lines)} lines")
    for benchmark, metric, tolerance in (("aging", "time", 0.01), ("pwrite", "median", 0.003),
                                         ("readtwice", "throughput", 0.02)):
        first, second = (sum(result.values(benchmark, metric)) for result in boots)
        assert abs(first / second - 1) < tolerance, (benchmark, first, second)


def hello_only(kernel):
    plan = Plan()
    result = boot(kernel, IMAGE, plan)
    check_stream(result, plan)
    assert [line["type"] for line in result.lines] == ["hello", "end"]


def console_fallback(kernel):
    plan = Plan().run("pwrite", "lru=mglru", 1, 60, "mglru", "/bin/pwrite -H -f /dev/null -B 10")
    result = boot(kernel, IMAGE, plan, port=False)
    check_stream(result, plan)
    assert result.of_type("run-end")[0]["status"] == 0


def failures(kernel):
    """A run that fails, hangs, cannot be executed or is killed has its own status, and the next one goes on."""
    plan = Plan()
    plan.run("a", "lru=mglru", 1, 60, "mglru", "/bin/pwrite --no-such-option")
    plan.run("b", "lru=mglru", 1, 2, "mglru", "/bin/pwrite -D 3600000 -B 1000 -f /dev/null")
    plan.run("c", "lru=mglru", 1, 60, "mglru", "/bin/no-such-program")
    plan.run("d", "lru=mglru", 1, 60, "mglru", "/bin/aging --nproc 1 --size-mib 4096 /mnt/tmpfs/aging")
    plan.run("e", "lru=mglru", 1, 60, "mglru", "/bin/pwrite -H -C 10 -f /dev/null")
    result = boot(kernel, IMAGE, plan, timeout_s=300)
    check_stream(result, plan)
    statuses = [line["status"] for line in result.of_type("run-end")]
    assert statuses[:3] == [2, -1, 127] and statuses[3] in (1, 137) and statuses[4] == 0, statuses
    assert any("no-such-option" in line["text"] for line in result.of_type("log"))


def bad_plans(kernel):
    """No hello, a word about why, and the guest powers off."""
    plan = Plan()
    result = boot(kernel, IMAGE, plan, plan_text="regrlab-plan 1\nnonce 12\n")
    assert result.lines == [] and "init: plan line 2: a nonce is" in result.console, result.console
    plan = Plan()
    result = boot(kernel, IMAGE, plan, plan_text=plan.text() + "disk /dev/vdz\n")
    assert [line["type"] for line in result.lines] == ["hello", "log"], result.lines
    assert "cannot mount" in result.lines[1]["text"] and "init: cannot mount /dev/vdz" in result.console


def main():
    kernel = os.environ.get("KERNEL") or base_kernel()
    for test in (hello_only, same_boots, console_fallback, failures, bad_plans):
        print(test.__name__, flush=True)
        test(kernel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
