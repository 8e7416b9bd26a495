# SPDX-License-Identifier: GPL-2.0-or-later
"""A quote before a job runs: POST /jobs?dry_run=1 and regrlab submit --quote."""

import json

from lab import API, lab, main, mbox, regrlab


def quote(one, body=None, **fields):
    answer = one.call("POST", API + "/jobs?dry_run=1", json.dumps({"benchmarks": "aging", "head": "v2", **fields}),
                      {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    return answer.json()


def effect(answer, params="nproc=1;lru=mglru"):
    return next(e for e in answer["effects"] if e["params"] == params)


def test_nothing_known():
    with lab() as one:
        answer = quote(one, max_boots=10)
        assert answer["dry_run"] and answer["host"] == "local" and answer["clock"] is None, answer
        assert answer["boots_per_arm"] == 10 and answer["parameter_sets"] == 2 and answer["alpha_each"] == .025
        assert {e["params"] for e in answer["effects"]} == {"nproc=1;lru=mglru", "nproc=8;lru=mglru"}
        for e in answer["effects"]:
            assert e["effect_pct"] is None and e["source"] == "unknown" and "after its first job" in e["reason"], e
        assert "regrlab calibrate" in effect(quote(one, clock="icount"))["reason"]
        for part in (answer["build"]["base"], answer["build"]["patched"], answer["measure"]):
            assert part["seconds"] is None and part["reason"], part
        assert answer["start"]["seconds"] == 0 and answer["start"]["jobs_before"] == 0
        assert answer["seconds"] is None and answer["done_in_s"] is None
        assert one.get(API + "/jobs").json()["jobs"] == [], "a quote stores nothing"
        text = regrlab(one, "submit", "--head", "v2", "--benchmarks", "aging", "--quote")
        assert "not known" in text and "at once" in text, text


def test_refused_as_the_job_would_be():
    with lab() as one:
        for query, fields, status in (("dry_run=1", {"head": "v2", "benchmarks": "nosuch"}, 422), ("dry_run=1", {}, 422),
                                      ("dry_run=maybe", {"head": "v2", "benchmarks": "aging"}, 422)):
            answer = one.call("POST", f"{API}/jobs?{query}", json.dumps(fields), {"Content-Type": "application/json"})
            assert answer.status == status, answer.body
        stored = one.call("POST", API + "/jobs?dry_run=0", json.dumps({"head": "v2", "benchmarks": "aging", "subject": "x"}),
                          {"Content-Type": "application/json"})
        assert stored.status == 202, stored.body


def test_past_jobs():
    """Boot summaries of a job that was measured there; the time of its boots and builds."""
    with lab() as one:
        series = mbox("mm: a change")
        done = one.new("boots=4 sleep=0.05", series=series, base="v1", max_boots=4)
        one.wait(done)
        answer = quote(one, max_boots=4)
        assert answer["clock"] == "icount", answer
        found = effect(answer)
        # the fake stage says that no boot differed from another
        assert found["source"] == "past jobs" and found["job"] == done and found["boots"] == 8 and found["effect_pct"] is None
        assert "too few" in found["reason"], found
        assert effect(quote(one, max_boots=6))["effect_pct"] == 0
        assert effect(answer, "nproc=8;lru=mglru")["source"] == "unknown"
        assert answer["measure"]["boot_s"] > 0 and answer["measure"]["seconds"] == 12 * answer["measure"]["boot_s"], answer
        assert "8 boots, and 4 of a control arm" in answer["measure"]["reason"], answer["measure"]
        assert answer["build"]["patched"]["seconds"] == 1.5 and answer["build"]["patched"]["cached"] is None, answer["build"]
        # the kernel of the same series on the same base: built, and not in the cache any longer
        body = {"base": "v1", "series": series.decode()}
        again = one.call("POST", API + "/jobs?dry_run=1&benchmarks=aging&base=v1", series, {"Content-Type": "application/mbox"})
        assert again.status == 200, again.body
        built = again.json()["build"]["patched"]
        assert built["cached"] is False and built["job"] == done and built["seconds"] == 1.5, (built, body)


def test_calibration_comes_first():
    with lab() as one:
        one.wait(one.new("boots=4 calibrated=" + "f" * 64))
        found = {boots: effect(quote(one, max_boots=boots)) for boots in (4, 10, 20)}
        assert all(e["source"] == "calibration" and e["boots"] == 8 and e["job"] == 1 for e in found.values()), found
        assert found[4]["effect_pct"] > found[10]["effect_pct"] > found[20]["effect_pct"] > 0, found
        # .01 of standard deviation; two parameter sets, so .025 for each: 1.01 sd in 20 boots; looks before cost a little
        fixed = effect(quote(one, max_boots=20, rule="fixed"))["effect_pct"]
        assert abs(fixed - 1.01) < .02 and fixed < found[20]["effect_pct"] < 1.3 * fixed, (fixed, found[20])
        assert quote(one, max_boots=20)["rule"] == "sequential" and quote(one, max_boots=4)["rule"] == "fixed"
        assert effect(quote(one, max_boots=20, params="aging.nproc=1"))["effect_pct"] < found[20]["effect_pct"]
        text = regrlab(one, "submit", "--head", "v2", "--benchmarks", "aging", "--max-boots", 20, "--quote")
        assert "aging nproc=1;lru=mglru: 1.2 % (calibration, job 1, 8 boots" in text, text


def test_queue():
    with lab() as one:
        one.wait(one.new("boots=1"))
        hanging = one.new("hang=measure")
        one.wait(hanging, {"measuring"})
        one.new("boots=1", priority=-5)
        assert quote(one)["start"]["jobs_before"] == 1 and quote(one)["start"]["seconds"] is not None, quote(one)["start"]
        assert quote(one, priority=-10)["start"]["jobs_before"] == 2
        assert one.call("DELETE", f"{API}/jobs/{hanging}").status in (200, 202)


if __name__ == "__main__":
    main(globals())
