# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemon killed with -9 in mid-measurement: the job goes on, no boot counts twice, and under icount the result is
that of a job nobody disturbed."""
import os
import signal
import time

from reallab import Lab, print_table, valid_boots


def measurements(comparisons):
    return {key: (c["boot_values"], c["verdict"]) for key, c in comparisons.items()}


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
        if boots == 3:      # and its QEMU too
            for pid in lab.qemus():
                os.kill(pid, signal.SIGKILL)
        lab.start()
    assert kills >= 2, f"only {kills} kills: the job was too fast for the test"
    disturbed = lab.result(job)
    print_table(f"after {kills} kills", disturbed)
    answer = lab.api(f"/jobs/{job}")
    assert valid_boots(answer) == {"base": 4, "patched": 4}, answer["boots"]
    assert not lab.qemus(), "QEMU left behind"
    assert measurements(calm) == measurements(disturbed), (calm, disturbed)
print("ok")
