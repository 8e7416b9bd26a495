#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""regrlab analyze: samples as the lab serves them, from a file of either kind, from standard input, from two files."""

import json
import subprocess
import tempfile

from lab import API, BUILD, lab, main


def analyze(*words, stdin=b""):
    done = subprocess.run([BUILD / "regrlab", "analyze", *words], input=stdin, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def result(*words, stdin=b""):
    status, out, err = analyze("--json", "--rule=fixed", *words, stdin=stdin)
    assert status == 0 and not err, (words, status, err)
    return json.loads(out)


def test_forms():
    """However the samples come, to the bit the same."""
    with lab() as one, tempfile.TemporaryDirectory() as folder:
        number = one.new("boots=4 passes=4")
        one.wait(number)
        served = {kind: one.get(f"{API}/jobs/{number}/samples.{kind}").body for kind in ("csv", "json")}
        paths = {kind: f"{folder}/samples.{kind}" for kind in served}
        for kind, body in served.items():
            with open(paths[kind], "wb") as f:
                f.write(body)
        whole = result(paths["csv"])
        comparison, = whole["comparisons"]
        assert comparison["boots"] == {"base": 4, "patched": 4} and comparison["p"] is not None, comparison
        assert result(paths["json"]) == whole == result("-", stdin=served["csv"]) == result("-", stdin=served["json"])
        # one arm in each file, and more boots in the second
        head, *lines = served["csv"].decode().splitlines(True)
        arms = [[line for line in lines if f",{arm}," in line] for arm in ("base", "patched")]
        assert all(arms) and sum(map(len, arms)) == len(lines)
        for name, rows in (("a", arms[0]), ("b", arms[1])):
            with open(f"{folder}/{name}", "w") as f:
                f.writelines([head, *rows])
        apart, = result(f"{folder}/a", f"{folder}/b")["comparisons"]
        assert apart["boots"] == comparison["boots"] and apart["base"] == comparison["base"], apart
        twice, = result(paths["csv"], paths["json"])["comparisons"]
        assert twice["boots"] == {"base": 8, "patched": 8}, twice
        # the table for people has the same verdict
        status, out, _ = analyze("--rule=fixed", paths["csv"])
        assert status == 0 and comparison["verdict"] in out and "nproc" in out, out


def test_refused():
    """Bad samples: where, and why; nothing is printed as if it were a result."""
    with lab() as one, tempfile.TemporaryDirectory() as folder:
        number = one.new("boots=4")
        one.wait(number)
        lines = one.get(f"{API}/jobs/{number}/samples.csv").body.decode().splitlines(True)
        path = f"{folder}/bad.csv"
        for change, where in ((lambda l: l.replace(",base,", ",bass,", 1), "line 2"), (lambda l: l.rsplit(",", 3)[0] + "\n", "line 2"),
                              (lambda l: '"' + l, "line 2")):
            with open(path, "w") as f:
                f.writelines([lines[0], change(lines[1]), *lines[2:]])
            status, out, err = analyze(path)
            assert status == 1 and not out and where in err and path in err, (status, out, err)
        for text in (b"", b"{", b"[1]", b"job,arm\n1,base\n", bytes(range(256))):
            status, out, err = analyze("-", stdin=text)
            assert status == 1 and not out and err.strip(), (text, status, out, err)
        with open(path, "w") as f:
            f.writelines(lines)
        for words, status in (((), 2), ((path, path, path), 2), (("--alpha=2", path), 2), (("--rule=none", path), 2),
                              (("--control", path), 1), ((f"{folder}/none",), 1)):
            got, out, err = analyze(*words)
            assert got == status and not out and err, (words, got, out, err)


if __name__ == "__main__":
    main(globals())
