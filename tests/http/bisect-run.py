#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""git bisect run with the client, against a daemon with a fake stage."""

import os
import subprocess
import tempfile

import lab as labs
from lab import regrlab

# what the fake stage is to find of the commit that is checked out
STEP = """#!/bin/sh
if [ -e broken ]; then words=end=build-failed
elif [ -e slow ]; then words=verdict=REGRESSION
else words=verdict=EQUIVALENT; fi
exec "$REGRLAB" bisect-run --bench aging --param aging.nproc=1 --max-boots 1 --subject "boots=1 $words" "$@"
"""


def git(folder, *argv, status=0, **env):
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_COMMITTER_NAME": "A",
           "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_EMAIL": "a@example.org"}
    done = subprocess.run(["git", "-C", folder, *argv], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **own, **env})
    assert done.returncode == status, (argv, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def history(folder, slow, broken, count=12):
    """Commits 0 … count; hashes."""
    git(folder, "init", "-q")
    commits = []
    for number in range(count + 1):
        with open(os.path.join(folder, "file"), "w") as f:
            f.write(f"{number}\n")
        for name, there in (("slow", number >= slow), ("broken", number in broken)):
            path = os.path.join(folder, name)
            if there:
                open(path, "w").close()
            elif os.path.exists(path):
                os.remove(path)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", f"commit {number}")
        commits.append(git(folder, "rev-parse", "HEAD").strip())
    with open(os.path.join(folder, ".git", "step"), "w") as f:
        f.write(STEP)
    os.chmod(os.path.join(folder, ".git", "step"), 0o755)
    return commits


def environment(lab):
    return {"REGRLAB_SERVER": f"http://127.0.0.1:{lab.port}", "REGRLAB": str(labs.BUILD / "regrlab")}


def jobs_of(lab):
    return lab.get(labs.API + "/jobs?limit=50").json()["jobs"]


def test_git_bisect_finds_the_commit():
    with labs.lab() as lab, tempfile.TemporaryDirectory() as folder:
        commits = history(folder, slow=8, broken={6, 9})
        git(folder, "bisect", "start", commits[12], commits[0])
        out = git(folder, "bisect", "run", ".git/step", **environment(lab))
        assert f"{commits[8]} is the first bad commit" in out, out
        assert "skip (build-failed" in out, out
        jobs = jobs_of(lab)
        assert 3 <= len(jobs) <= 8, jobs
        for job in jobs:
            spec = lab.job(job["id"])["spec"]
            assert spec["base"] == commits[0], "each commit is compared with the good end, not with its neighbour"
            assert spec["head"] in commits[1:12] and spec["min_effect_pct"] == 1, spec


def test_a_step_goes_on_with_its_job():
    with labs.lab() as lab:
        argv = ["bisect-run", "--good", "v1", "--commit", "v2", "--bench", "aging", "--max-boots", 1, "--subject",
                "boots=1 verdict=EQUIVALENT"]
        assert "good (aging" in regrlab(lab, *argv)
        regrlab(lab, *argv)
        assert len(jobs_of(lab)) == 1, "the same question is the same job"
        regrlab(lab, *argv, "--key", "again")
        regrlab(lab, *argv, "--threshold", 2)
        assert len(jobs_of(lab)) == 3


def test_what_a_result_says():
    argv = ["bisect-run", "--good", "v1", "--commit", "v2", "--bench", "aging", "--max-boots", 1, "--subject"]
    with labs.lab() as lab:
        assert "bad (aging" in regrlab(lab, *argv, "boots=1 verdict=REGRESSION", status=1)
        assert "good (aging" in regrlab(lab, *argv, "boots=1 verdict=REGRESSION", "--threshold", 90), "smaller than it matters"
        regrlab(lab, *argv, "boots=1 verdict=IMPROVEMENT")
        for verdict in ("INCONCLUSIVE", "INSUFFICIENT", "INVALID"):
            assert "skip (aging" in regrlab(lab, *argv, f"boots=1 verdict={verdict}", status=125)
        regrlab(lab, *argv, "end=boot-failed", status=125)


def test_what_is_not_the_commits_fault_stops_it():
    """git takes each status below 128 for an answer about the commit."""
    argv = ["bisect-run", "--good", "v1", "--commit", "v2", "--bench", "aging"]
    with labs.lab() as lab:
        for end in ("infra-failed", "apply-failed"):
            assert "stop (" + end in regrlab(lab, *argv, "--subject", f"end={end}", status=255)
        assert "there is no benchmark" in regrlab(lab, *argv[:-1], "none", status=255)
        assert "no git bisection" in regrlab(lab, "bisect-run", "--bench", "aging", "--commit", "v2", status=255, env={"GIT_DIR": "/nowhere"})
        regrlab(lab, "bisect-run", status=255)
        regrlab(lab, "bisect-run", "--no-such-option", status=255)
    assert "stop" not in regrlab(lab, *argv, status=255, env={"REGRLAB_SERVER": "http://127.0.0.1:1"})


if __name__ == "__main__":
    labs.main(globals())
