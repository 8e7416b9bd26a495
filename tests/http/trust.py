# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lab says of its own reliability: the ledger of false alarms, marked verdicts, calibrations."""

from client import regrlab
from lab import API, lab, main


def host(one):
    return one.get(API + "/hosts").json()["hosts"][0]


def says_so(one, number):
    """Whether the result, the job, the page and the report of a job say that its host was not fit."""
    result = one.get(f"{API}/jobs/{number}/result").json()
    said = [result["trust"]["fitness"] == "unfit", one.job(number)["trust"]["fitness"] == "unfit",
            "Not to be relied upon" in one.get(f"/jobs/{number}").body.decode(),
            "was not fit when this was measured" in " ".join(one.get(f"{API}/jobs/{number}/report.txt").body.decode().split())]
    assert len(set(said)) == 1, said
    return said[0]


def test_out_of_limits():
    """The fake stage finds a regression in every job; where both arms are one source, that is a false alarm."""
    with lab() as one:
        changed = one.new("boots=1")
        one.wait(changed)
        assert host(one)["false_alarms"] == [] and not says_so(one, changed)
        jobs = [one.new("boots=1 same=1") for _ in range(40)]
        one.wait(jobs[-1], within=200)
        line, = host(one)["false_alarms"]
        assert (line["benchmark"], line["clock"], line["comparisons"], line["alarms"], line["limit"], line["fitness"]) == \
            ("aging", "icount", 40, 40, 4, "unfit"), line
        assert line["of_control_arms"] == 0 and line["last_job"] == jobs[-1] and line["alarms_expected"] == 2
        assert not says_so(one, jobs[38]) and says_so(one, jobs[39])
        later, other = one.new("boots=1"), one.new("boots=1", benchmarks="pwrite")
        one.wait(other)
        assert says_so(one, later) and not says_so(one, other) and not says_so(one, changed)
        page = one.get("/hosts").body.decode()
        assert "NOT FIT" in page and '<td class="n">40</td>' in page
        one.stop()
        one.start()  # the ledger is in the database
        assert host(one)["false_alarms"] == [line] and says_so(one, later)


def test_calibration():
    with lab() as one:
        assert host(one)["calibrations"] == []
        number = one.new("boots=1 calibrated=f00")
        one.wait(number)
        row, = host(one)["calibrations"]
        assert row["job"] == number and row["config_sha256"] == "f00" and row["effects"][2]["effect_pct"] == 0.9, row
        page = one.get("/hosts").body.decode()
        assert "several-humps" in page and "2.9 %" in page


def test_calibrate():
    """The subcommand makes a job of its own kind: the base kernel with itself, all boots, by the fixed rule."""
    with lab() as one:
        out = regrlab(one, "calibrate", "--host", "local", "--benchmarks", "aging", "--boots", 41, "--clock", "tcg",
                      "--params", "aging.nproc=1")
        assert out.startswith("job 1: http://"), out
        spec = one.job(1)["spec"]
        assert spec["kind"] == "calibrate" and spec["max_boots"] == 21 and spec["rule"] == "fixed", spec
        assert spec["base"] == spec["head"] == "master" and not spec["has_series"] and spec["host"] == "local", spec
        assert spec["params"] == ["aging.nproc=1"] and spec["clock"] == "tcg" and spec["subject"] == "calibration"
        refused = one.submit(kind="calibrate")
        assert refused.status == 422 and refused.error()["field"] == "series", refused.body
        assert one.submit(kind="calibrate", head="v2").error()["field"] == "head"
        assert one.submit(kind="other").error()["field"] == "kind"
        for argv in ((), ("--benchmarks", "aging", "--boots", 3), ("--benchmarks", "aging", "--boots", 999)):
            regrlab(one, "calibrate", *argv, status=2)
        assert "there is no host" in regrlab(one, "calibrate", "--benchmarks", "aging", "--host", "nosuch", status=1)


main(globals())
