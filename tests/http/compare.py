# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of different jobs side by side: what is compared, by way of what, and what is not."""

import html5lib

from lab import API, lab, main, mbox


def text_of(answer):
    tree = html5lib.HTMLParser(strict=True).parse(answer.body.decode())
    return " ".join("".join(tree.itertext()).split())


def asked(one, query):
    answer = one.get(f"{API}/compare?{query}")
    assert answer.status == 200, answer.body
    page = one.get(f"/compare?{query}")
    assert page.status == 200
    return answer.json(), text_of(page)


def relations(answer):
    return [kernel["relation"] for kernel in answer["kernels"]]


def done(one, subject, **more):
    number = one.new(f"boots=4 {subject}", **more)
    assert one.wait(number)["state"] == "done"
    return number


def test_compare():
    with lab(hosts=("local", "second")) as one:
        one_pct, two_pct = done(one, "image=v1 patched=20.2", host="local"), done(one, "image=v2 patched=20.4", host="local")
        on_top = done(one, "base-image=v1 image=v3 patched=22", host="local")
        far, other = done(one, "image=v4 patched=21", host="second"), done(one, "image=v5 clock=tcg patched=21", host="local")
        stranger = done(one, "base-image=old image=v6 patched=21", host="local")

        # by way of the base that both share: 20.4 / 20.2, without a verdict
        answer, page = asked(one, f"kernel={one_pct}&kernel={two_pct}")
        assert relations(answer) == ["itself", "shared"] and answer["adjusted_for"] == 1 and answer["alpha"] == 0.05
        cell = answer["rows"][0]["cells"][1]
        assert abs(cell["change_pct"] - 100 * (20.4 / 20.2 - 1)) < 1e-6 and cell["ci_low_pct"] < cell["change_pct"] < cell["ci_high_pct"]
        assert 0 < cell["p"] < 0.05 and answer["rows"][0]["cells"][0]["change_pct"] is None
        assert "+0.99% slower" in page and "get no verdict" in page and "third kernel" in page

        # side by side in one job: its own result, and seen from the other end
        answer, page = asked(one, f"kernel={one_pct}:base&kernel={one_pct}&kernel={two_pct}&kernel={two_pct}:base")
        assert relations(answer) == ["itself", "direct", "direct", "itself"] and answer["adjusted_for"] == 0
        assert answer["rows"][0]["cells"][1]["change_pct"] == one.get(f"{API}/jobs/{one_pct}/result").json()["comparisons"][0]["change_pct"]
        assert "REGRESSION" in page
        answer, _ = asked(one, f"kernel={one_pct}&kernel={one_pct}:base")
        there, back = 5.0, answer["rows"][0]["cells"][1]["change_pct"]
        assert relations(answer) == ["itself", "direct"] and abs((1 + there / 100) * (1 + back / 100) - 1) < 1e-9
        # a series on top of another: its base is the reference
        answer, _ = asked(one, f"kernel={one_pct}&kernel={on_top}")
        assert relations(answer) == ["itself", "direct"]

        # what has nothing in common is not compared, and the page says why
        for number, why in ((far, "measured on second"), (other, "clock is tcg"), (stranger, "No job booted it by turns")):
            answer, page = asked(one, f"kernel={one_pct}&kernel={number}")
            assert relations(answer) == ["itself", "apart"] and why in page, (why, page)
            assert all(row["cells"][1]["change_pct"] is None for row in answer["rows"])
            if number != stranger:
                assert all(row["cells"][1]["value"] is None for row in answer["rows"])

        # what cannot be had is said
        failed = one.new("end=build-failed")
        one.wait(failed)
        answer, page = asked(one, f"kernel={one_pct}&kernel={failed}&kernel=999")
        assert answer["left_out"] == [f"Job {failed} has no result.", "Job 999 is not there."] and relations(answer) == ["itself"]
        many = "&".join(f"kernel={one_pct}" for _ in range(9))
        assert len(asked(one, many)[0]["kernels"]) == 8
        assert "A kernel is named by its job" in asked(one, "")[1]
        for query in ("kernel=x", "kernel=0", "kernel=7:both", "series=x", "kernel=%ff"):
            assert one.get(f"{API}/compare?{query}").status == 400 and one.get(f"/compare?{query}").status == 400, query


def versions(number, change_id):
    text = mbox(f"boots=4 image=v{number} patched={20 + number}").decode().replace("[PATCH]", f"[PATCH v{number}]")
    return text.replace("Signed-off-by:", f"change-id: {change_id}\nSigned-off-by:").encode()


def test_versions():
    with lab() as one:
        numbers = {}
        for number in (3, 1, 2):
            answer = one.submit(series=versions(number, "20261201-sample-0123456789ab"))
            numbers[number] = answer.json()["id"]
            one.wait(numbers[number])
        one.wait(one.submit(series=versions(9, "20261201-other-0123456789ab")).json()["id"])
        answer, page = asked(one, f"series={numbers[2]}")
        assert [(kernel["job"], kernel["arm"]) for kernel in answer["kernels"]] == [
            (numbers[1], "base"), (numbers[1], "patched"), (numbers[2], "patched"), (numbers[3], "patched")], answer["kernels"]
        assert relations(answer) == ["itself", "direct", "direct", "direct"]
        assert f"v3, job {numbers[3]}" in page and f"base of job {numbers[1]}" in page


main(globals())
