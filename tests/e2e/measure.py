# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 2400
"""regrlab-job measure on run directories made here: whole jobs, and stages that are killed. (Guests: hostile-guest.)

The kernel is $REGRLAB_KERNEL, or one that `regrlab-job build` makes (or finds in the cache) first.
"""
import json
import os
import re
import signal
import sys
import time

from rundir import Job, boot_values, check_whole, qemus, workshop


def whole_job():
    job = Job("whole", max_boots=2, clock="icount", place={"vm_cpus": "0-1", "other_cpus": "0"}).run()
    check_whole(job)
    accelerator, plan = job.events("accelerator")[0], job.events("plan")[0]
    assert (accelerator["accelerator"], accelerator["clock"]) == ("tcg", "icount"), accelerator
    assert plan["order"] in ("ABBA", "BAAB") and plan["boots_per_arm"] == 2, plan
    letters = "".join("A" if b["arm"] == "base" else "B" for b in job.events("boot"))
    assert letters == plan["order"], letters
    assert [b["pair"] for b in job.events("boot")] == [0, 0, 1, 1]
    hello = job.events("boot")[0]["hello"]
    assert (hello["hypervisor"], hello["clocksource"], hello["cpus"]) == ("TCGTCGTCGTCG", "tsc-early", 2), hello
    assert "QEMU's threads and their CPUs" in job.text("log") and "/TCG 0-1" in job.text("log")
    comparison = job.events("result")[0]["result"]["comparisons"][0]
    assert comparison["benchmark"] == "aging" and comparison["clock"] == "icount", comparison
    assert comparison["boots"] == {"base": 2, "patched": 2}, comparison
    # the same kernel twice
    assert abs(comparison["change_pct"]) < 1, comparison
    for boot in job.events("boot"):
        print(f"   boot {boot['boot']}: first sample after {(boot['first_sample_ns'] - boot['start_ns']) / 1e9:.1f} s")
    # told to do it again it only says that it is done
    before = job.text("events.jsonl")
    job.run()
    assert job.text("events.jsonl") == before
    return job


def killed_stage(undisturbed):
    """kill -9 within a boot: the next stage ends the QEMU left behind and makes just the boots that are missing."""
    job = Job("killed", max_boots=2, place={"vm_cpus": "0-1", "other_cpus": "0"})
    job.set_spec(job=undisturbed.spec["job"], seed=undisturbed.spec["seed"])
    stage = job.start()
    job.wait_for(lambda: len(job.events("boot")) == 1 and qemus(), "second boot")
    time.sleep(2)
    stage.kill()
    stage.wait()
    left = qemus()
    assert len(left) == 1, left
    first = job.events("boot")[0]
    with open(job.path("samples.jsonl"), "a") as f:  # what it was just writing
        f.write(json.dumps(job.samples()[0]) + '\n{"job":1,"ar')
    job.run()
    check_whole(job)
    assert left[0] not in qemus()
    assert job.events("boot")[0] == first and len(job.events("boot")) == 4
    assert len(job.events("accelerator")) == len(job.events("plan")) == 1
    mine, other = boot_values(job), boot_values(undisturbed)
    assert mine.keys() == other.keys()
    worst = max(abs(mine[key] / other[key] - 1) for key in mine)
    print(f"   largest difference of a sample from the undisturbed job's: {100 * worst:.4f} %")


def running_guests():
    """QEMUs that have used a second of processor time: they are past their start."""
    def seconds(pid):
        with open(f"/proc/{pid}/stat") as f:
            return int(f.read().rsplit(")", 1)[1].split()[11]) / os.sysconf("SC_CLK_TCK")
    return [pid for pid in qemus() if seconds(pid) > 1]


def stopped_stage():
    """SIGTERM: the guest is ended at once, also where QEMU does not listen, and the stage goes on when started again."""
    job = Job("stopped")
    stage = job.start()
    job.wait_for(qemus, "QEMU")
    time.sleep(.5)
    stage.send_signal(signal.SIGTERM)
    begin = time.monotonic()
    assert stage.wait() == 143
    assert time.monotonic() - begin < 12    # its alarm is at 8 s
    assert not qemus() and not job.events("end")
    stage = job.start()
    job.wait_for(running_guests, "guest")
    os.kill(running_guests()[0], signal.SIGSTOP)
    stage.send_signal(signal.SIGTERM)
    assert stage.wait() == 143
    assert not qemus(), "a QEMU that does not listen outlives its stage"
    check_whole(job.run())


def killed_qemu():
    """A QEMU that is killed is no finding about a kernel; its boot is made again, at once."""
    job = Job("qemu", place={"max_failed_boots": 1})
    stage = job.start()
    job.wait_for(qemus, "QEMU")
    time.sleep(.5)
    os.kill(qemus()[0], signal.SIGKILL)
    assert stage.wait() == 0
    check_whole(job)
    boots = job.events("boot")
    reasons = [b["reason"] for b in boots]
    # killed before it ran the guest it is simply started again
    assert reasons == ["lost", "", ""] or (reasons == ["", ""] and "once more" in job.text("log")), boots
    if reasons[0]:
        assert boots[1]["arm"] == boots[0]["arm"] and boots[1]["pair"] == 0
    job = Job("qemu-always")
    stage = job.start()
    job.wait_for(qemus, "QEMU")
    while stage.poll() is None:
        for pid in qemus():
            os.kill(pid, signal.SIGKILL)
        time.sleep(.1)
    assert stage.returncode == 0
    # guest-lost: they ran guests; libvirt: they never came so far
    assert job.end()["state"] == "infra-failed" and job.end()["reason"] in ("guest-lost", "libvirt"), job.end()


def fake_host(name, turbo_off):
    """A folder with a proc and sys in it that stand for those of a host; its steal is what steal() says."""
    root = os.path.join(Job.work, name)
    for path, text in (("sys/devices/system/cpu/online", "0-1"), ("proc/cpuinfo", "flags : fpu"), ("proc/1/comm", "init"),
                       ("sys/devices/system/cpu/intel_pstate/no_turbo", "1" if turbo_off else "0"),
                       ("proc/loadavg", "0.50 0.50 0.50 1/2 3"), ("proc/sys/kernel/osrelease", "6.1.0")):
        os.makedirs(os.path.dirname(f"{root}/{path}"), exist_ok=True)
        with open(f"{root}/{path}", "w") as f:
            f.write(text + "\n")
    steal(root, 0, 1000)
    return root


def steal(root, ticks, total):
    with open(f"{root}/proc/stat.new", "w") as f:
        f.write("".join(f"cpu{cpu} {total - ticks} 0 0 0 0 0 0 {ticks} 0 0\n" for cpu in range(2)))
    os.rename(f"{root}/proc/stat.new", f"{root}/proc/stat")


def host_policy():
    """strict does not measure and says what to change; warn marks; counted instructions do not care."""
    root = fake_host("turbo-host", False)
    place = {"vm_cpus": "1", "other_cpus": "0", "guest_cpus": 1, "host_policy": "strict", "host_require": "turbo=off", "host_root": root}
    job = Job("strict", clock="tcg", place=place).run()
    end = job.end()
    assert (end["state"], end["reason"]) == ("infra-failed", "host-policy") and not job.events("boot"), end
    assert "turbo is on and should be off: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo" in end["message"], end
    job = Job("strict-icount", clock="icount", place=place).run()
    check_whole(job)
    assert not job.events("result")[0]["result"]["host_warnings"]
    job = Job("warn", clock="tcg", place={**place, "host_policy": "warn"}).run()
    check_whole(job)
    states, boots = job.events("host-state"), job.events("boot")
    assert len(states) == 1 and {b["machine"]["state"] for b in boots} == {states[0]["id"]}, (states, boots)
    facts = {fact["name"]: fact for fact in states[0]["facts"]}
    assert facts["turbo"]["value"] == "on" and facts["turbo"]["holds"] is False and facts["governor"]["value"] is None
    assert facts["qemu"]["value"] and "load" not in facts and boots[0]["machine"]["now"]["load"] == "0.50", (facts, boots)
    assert all(boot["valid"] and boot["machine"]["warnings"][0]["fact"] == "turbo" for boot in boots), boots
    assert job.events("result")[0]["result"]["host_warnings"] == ["turbo is on and should be off (2 boots)"]
    # CPUs that are not enough are not refused where instructions are counted
    crowded = {**place, "vm_cpus": "0-1", "other_cpus": "", "guest_cpus": 2, "host_require": "turbo=any ksm=any"}
    end = Job("crowded", clock="tcg", place=crowded).run().end()
    assert end["reason"] == "host-placement" and "give the host other_cpus that are not in vm_cpus" in end["message"], end
    end = Job("none-such", clock="icount", place={**place, "vm_cpus": "0-1,7"}).run().end()
    assert end["reason"] == "host-placement" and "CPU 7 is not online" in end["message"], end
    closed = Job("closed", clock="tcg", place={**place, "host_policy": "strict", "host_root": root + "/none"}).run().end()
    assert closed["reason"] == "host-policy" and "turbo is unknown" in closed["message"], closed


def bound_memory():
    """A host that says it has two nodes: memory is bound to the one that the guest's CPUs are of, and a disk has its thread."""
    root = fake_host("two-nodes", True)
    for path, text in (("cpu/online", "0-3"), ("node/node0/cpulist", "0-1"), ("node/node1/cpulist", "2-3")):
        os.makedirs(os.path.dirname(f"{root}/sys/devices/system/{path}"), exist_ok=True)
        with open(f"{root}/sys/devices/system/{path}", "w") as f:
            f.write(text + "\n")
    job = Job("bound", clock="tcg", benchmarks=["readtwice"], params=[],
              place={"vm_cpus": "1", "other_cpus": "0", "guest_cpus": 1, "host_root": root}).run()
    check_whole(job)
    for boot in job.events("boot"):
        assert boot["valid"] and boot["machine"]["placement"]["node"] == 0, boot
    domain = job.text("artifacts/domain.xml")
    assert "<memory mode='strict' nodeset='0'/>" in domain and "<allocation mode='immediate'/>" in domain, domain
    assert re.search(r"QEMU's threads and their CPUs: .*IO iothread1 0;.*CPU 0/TCG 1\b", job.text("log")), job.text("log")[-3000:]


def disturbed_boots():
    """A host whose hypervisor takes half of its time: one boot is replaced, as many as may be, the others are marked."""
    root = fake_host("noisy-host", True)
    job = Job("disturbed", clock="tcg", place={"vm_cpus": "0-1", "host_policy": "warn", "host_root": root, "max_steal_pct": 10,
                                               "max_disturbed_boots": 1, "noise_wait_s": 1})
    stage, ticks = job.start(), 0
    while stage.poll() is None:
        ticks += 10
        steal(root, ticks, 1000 + 2 * ticks)
        time.sleep(.05)
    assert stage.returncode == 0, job.text("log")[-3000:]
    check_whole(job)
    boots = job.events("boot")
    assert [boot["reason"] for boot in boots] == ["disturbed", "", ""], boots
    assert "the hypervisor took 50.0 % of the measuring CPUs' time during the boot (limit 10 %)" in boots[0]["detail"], boots[0]
    assert boots[2]["arm"] == boots[0]["arm"] and boots[2]["pair"] == boots[0]["pair"], boots
    assert [w["fact"] for w in boots[1]["machine"]["warnings"]] == ["noise", "disturbed"], boots[1]
    assert boots[1]["machine"]["noise"]["during"]["samples"] > 1, boots[1]
    result = job.events("result")[0]["result"]
    assert result["failures"]["failed"] == {"base": 0, "patched": 0}, result["failures"]
    assert len(result["host_warnings"]) == 2 and "before the boot" in result["host_warnings"][0], result["host_warnings"]
    assert [s["reason"] for s in job.samples() if not s["valid"]] == ["disturbed"] * boots[0]["samples"]


def no_kvm():
    if os.path.exists("/dev/kvm"):
        return
    job = Job("kvm", clock="kvm").run()
    end = job.end()
    assert (end["state"], end["reason"]) == ("infra-failed", "no-kvm") and "icount" in end["message"], end


def main():
    with workshop():
        begin = time.monotonic()
        undisturbed = None
        tests = {"whole": whole_job, "killed-stage": lambda: killed_stage(undisturbed), "stopped-stage": stopped_stage,
                 "killed-qemu": killed_qemu, "host-policy": host_policy, "bound-memory": bound_memory,
                 "disturbed": disturbed_boots, "no-kvm": no_kvm}
        wanted = sys.argv[1:] or list(tests)
        for name in wanted:
            print(f"== {name} (at {time.monotonic() - begin:.0f} s)")
            sys.stdout.flush()
            undisturbed = tests[name]() or undisturbed
    print("ok")


if __name__ == "__main__":
    main()
