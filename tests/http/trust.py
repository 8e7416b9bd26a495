# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lab says of its own reliability: the ledger of false alarms, marked verdicts, calibrations."""

import json

from lab import API, lab, main, regrlab


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


def control_word(one, number):
    """What the page of a job says of its control arm."""
    page = one.get(f"/jobs/{number}").body.decode()
    return page.split("Control arm", 1)[1].split("</p>", 1)[0] if "Control arm" in page else ""


def test_control():
    """A control arm counts for its host, and is no part of the job's own result, boots or failures."""
    with lab() as one:
        plain, quiet = one.new("boots=4"), one.new("boots=4 control=quiet")
        assert one.wait(plain)["control"] is None and control_word(one, plain) == ""
        job = one.wait(quiet)
        arms = [boot["arm"] for boot in job["boots"]]
        assert [arms.count(arm) for arm in ("base", "patched", "control")] == [4, 4, 4], arms
        assert job["progress"]["boots_done"] == job["progress"]["boots_total"] == 12
        comparison, = job["control"]["comparisons"]
        assert comparison == {"benchmark": "aging", "sets": 1, "p": 0.4, "alarm": False} and job["control"]["counts"]
        results = [one.get(f"{API}/jobs/{number}/result").json() for number in (plain, quiet)]
        for result in results:
            del result["trust"]  # has what the ledger said at that time
        assert results[0] == results[1]
        assert "aging: no difference (p 0.400); counted for its host" in control_word(one, quiet), control_word(one, quiet)
        line, = host(one)["false_alarms"]
        assert (line["comparisons"], line["of_control_arms"], line["alarms"], line["last_job"]) == (1, 1, 0, quiet), line

        alarm = one.new("boots=4 control=alarm")
        assert one.wait(alarm)["control"]["comparisons"][0]["alarm"]
        assert "aging: a false alarm (p 0.001" in control_word(one, alarm)
        line, = host(one)["false_alarms"]
        assert (line["comparisons"], line["of_control_arms"], line["alarms"]) == (2, 2, 1), line
        assert '<td class="n">2</td><td class="n">2</td><td class="n">1</td>' in one.get("/hosts").body.decode()

        # a job that compares a kernel with itself counts once, as that
        both = one.new("boots=4 control=quiet same=1")
        assert not one.wait(both)["control"]["counts"] and "not counted for its host" in control_word(one, both)
        line, = host(one)["false_alarms"]
        assert (line["comparisons"], line["of_control_arms"]) == (3, 2), line
        one.stop()
        one.start()
        assert host(one)["false_alarms"] == [line] and one.job(quiet)["control"] == job["control"]


def test_control_samples():
    """The samples have the control arm, for whoever wants to compare again; the comparison of the job leaves it out."""
    with lab() as one:
        numbers = one.new("boots=4"), one.new("boots=4 control=quiet")
        one.wait(numbers[1])
        results = []
        for number in numbers:
            csv = one.get(f"{API}/jobs/{number}/samples.csv").body
            rows = csv.decode().splitlines()
            assert sum(f"{number},control," in row for row in rows) == (12 if number == numbers[1] else 0)
            assert len(one.get(f"{API}/jobs/{number}/samples.json").json()) == len(rows) - 1
            (one.dir / f"{number}.csv").write_bytes(csv)
            results.append(json.loads(regrlab(one, "analyze", "--json", one.dir / f"{number}.csv")))
        boots, = [c["boots"] for c in results[1]["comparisons"]]
        assert boots == {"base": 4, "patched": 4} and results[1]["max_boots"] == results[0]["max_boots"], results
        out = regrlab(one, "analyze", "--control", one.dir / f"{numbers[1]}.csv")
        assert "regrlab analyze --control --max-boots 4 samples.csv" in " ".join(out.split()), out
        out = regrlab(one, "analyze", "--control", one.dir / f"{numbers[0]}.csv", status=1)
        assert "no samples of a control arm" in out, out


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
