# SPDX-License-Identifier: GPL-2.0-or-later
# long
"""The daemon killed with -9 in mid-measurement: the job goes on, no boot counts twice, and under icount the result is
that of a job nobody disturbed: the same verdict, and boots that differ by no more than boots of one kernel do. So it is if
its QEMU dies with it, and if that stays and no longer answers."""
import os
import signal
import time

from reallab import Lab, print_table, valid_boots


SAME_PCT = .5    # boots of one kernel lie within about .1 % here


def check_same(calm, disturbed):
    assert calm.keys() == disturbed.keys(), (calm, disturbed)
    for key, one in calm.items():
        other = disturbed[key]
        assert one["verdict"] == other["verdict"] and one["boots"] == other["boots"], (one, other)
        for arm in ("base", "patched"):
            for a, b in zip(one["boot_values"][arm], other["boot_values"][arm], strict=True):
                assert abs(a / b - 1) * 100 < SAME_PCT, (one, other)


with Lab() as lab:
    fields = {"benchmarks": "aging", "params": "aging.nproc=1", "seed": "7"}
    calm = lab.result(lab.submit("demo-slower", **fields))
    print_table("undisturbed", calm)

    job = lab.submit("demo-slower", **fields)
    kills = 0
    for boots in (1, 3, 5):
        while True:
            answer = lab.wait(job, 300, until={"measuring"})
            done = sum(valid_boots(answer).values())
            if answer["state"] != "measuring" or done >= boots:
                break
            time.sleep(.2)
        if answer["state"] != "measuring":
            break
        lab.stop(signal.SIGKILL)
        kills += 1
        for pid in lab.qemus():
            os.kill(pid, {1: signal.SIGSTOP, 3: signal.SIGKILL, 5: signal.SIGCONT}[boots])
        lab.start()
    assert kills >= 2, f"only {kills} kills: the job was too fast for the test"
    disturbed = lab.result(job)
    print_table(f"after {kills} kills", disturbed)
    answer = lab.api(f"/jobs/{job}")
    assert valid_boots(answer) == {"base": 4, "patched": 4}, answer["boots"]
    assert not lab.qemus(), "QEMU left behind"
    check_same(calm, disturbed)
print("ok")
