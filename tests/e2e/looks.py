# SPDX-License-Identifier: GPL-2.0-or-later
# long
# timeout: 2400
"""Sequential jobs on real kernels: a change of one per cent, a stop before the last boot, boots added, control arms.

Real boots vary as they like, so each job asks for what its clock can tell for sure. The host is never waited for.
"""
import json
import os
import subprocess

from reallab import BUILD, Lab, print_table, valid_boots

ONE = {"benchmarks": "aging", "params": "aging.nproc=1"}


def only(lab, job):
    comparison, = lab.result(job).values()
    return comparison


def analysed(lab, job, result):
    """What regrlab analyze makes of the job's samples with the arguments that its result names."""
    path = lab.path(f"{job}.csv")
    with open(path, "wb") as f:
        f.write(lab.get(f"/api/v1/jobs/{job}/samples.csv"))
    env = dict(os.environ, XDG_CACHE_HOME=lab.path("own-cache"))
    done = subprocess.run([f"{BUILD}/regrlab", "analyze", "--json", *result["arguments"].split(), path], env=env, check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def assert_same(lab, job, result):
    again = analysed(lab, job, result)
    for name in again:
        assert again[name] == result[name], (name, again[name], result[name])


def found(lab, job):
    c = only(lab, job)
    print_table("little more work, icount", lab.result(job))
    assert c["verdict"] == "REGRESSION" and .7 < c["change_pct"] < 1.3, c


def early(lab, job):
    """It stops at a look before the last, by the rule that was in the plan, and says so."""
    c, result, record = only(lab, job), lab.api(f"/jobs/{job}/result"), lab.api(f"/jobs/{job}")
    print_table("a slower aging walk, icount", lab.result(job))
    assert c["verdict"] == "REGRESSION" and c["early"] and c["stop"] == result["stop"] == "found", c
    assert record["plan"]["looks"] == result["looks"] == [4, 6, 8, 10] and result["look"] < 4, result
    assert result["pairs"] == result["looks"][result["look"] - 1] < result["max_boots"] == 10, result
    assert valid_boots(record) == {"base": result["pairs"], "patched": result["pairs"]}, valid_boots(record)
    assert (record["look"]["stop"], record["look"]["next_pairs"]) == ("found", 0), record["look"]
    assert f"found at look {result['look']} of 4" in c["reason"], c["reason"]
    assert_same(lab, job, result)


def called_or_told(lab, job):
    """Wall time under emulation may show so little or not; where not, it says how many boots would, or what it can see."""
    c = only(lab, job)
    print_table("little more work, tcg", lab.result(job))
    print(f"   {c['reason']}")
    if c["verdict"] == "REGRESSION":
        return
    assert c["verdict"] == "INCONCLUSIVE", c
    if c["boots_needed"]:
        assert c["boots_needed"] > 4 and f"about {c['boots_needed']} boots an arm" in c["reason"], c
    else:   # so noisy that no number of boots would do
        assert "the smallest change that 4 boots an arm can see" in c["reason"], c


def continued(lab, job):
    """A job that could not decide gets boots more, which the open-ended rule judges; its first result stays."""
    assert only(lab, job)["verdict"] == "INCONCLUSIVE"
    before = lab.api(f"/jobs/{job}/result")
    assert before["rule"] == "fixed", before
    lab.api(f"/jobs/{job}/more?boots=2", "POST", b"")
    record = lab.wait(job)
    after = lab.api(f"/jobs/{job}/result")
    more = after.pop("continuation")
    assert record["state"] == "done" and record["reason"] == "", record
    for result in (before, after):
        del result["trust"]     # of when the last result came
    assert after == before, "the result that there was has changed"
    assert more["rule"] == "open-ended" and more["pairs"] == 6, more
    assert valid_boots(record) == {"base": 6, "patched": 6}, valid_boots(record)
    c, = [c for c in more["comparisons"] if c["primary"]]
    print(f"== boots added\n   {c['verdict']}, p {c['p']}: {c['reason']}")
    assert c["verdict"] == "INCONCLUSIVE" and 1e-6 < c["p"] <= 1 and c["boots"] == {"base": 6, "patched": 6}, c
    for result in (after, more):
        assert_same(lab, job, result)


def controls(lab, jobs):
    """One of three jobs in a row boots its base four times more; what comes of it is in the ledger."""
    drawn = {}
    for job in jobs:
        record = lab.api(f"/jobs/{job}")
        boots = [b for b in record["boots"] if b["arm"] == "control" and b["valid"]]
        assert len(boots) == (4 if "C" in record["plan"]["order"] else 0), record["plan"]
        if boots:
            assert [b["pair"] for b in boots] == [0, 1, 2, 3], boots
            drawn[job] = record
            print(f"== control arm of job {job}, {record['accelerator']['clock']}: {record['control']['comparisons']}")
    assert len(drawn) == 2 and all(r["control"]["counts"] for r in drawn.values()), drawn
    lines = lab.api("/hosts")["hosts"][0]["false_alarms"]
    assert sum(line["of_control_arms"] for line in lines) == sum(line["comparisons"] for line in lines) == 2, lines
    for job, record in drawn.items():
        again = analysed(lab, job, record["control"])
        c, = [c for c in again["comparisons"] if c["primary"]]
        assert c["p_holm"] == record["control"]["comparisons"][0]["p"], (c, record["control"])


with Lab(control_every=3, max_jitter_pct=100, max_steal_pct=100, noise_wait_s=0) as lab:
    small = lab.submit("aging-1-percent", max_boots=6, min_effect=.5, **ONE)
    big = lab.submit("demo-slower", max_boots=10, **ONE)
    wall = lab.submit("aging-1-percent", clock="tcg", max_boots=4, min_effect=.5, alpha=.01, **ONE)
    hard = lab.submit("aging-1-percent", clock="tcg", max_boots=4, min_effect=.01, alpha=.000001, **ONE)
    found(lab, small)
    early(lab, big)
    called_or_told(lab, wall)
    continued(lab, hard)
    controls(lab, [small, big, wall, hard])
print("ok")
