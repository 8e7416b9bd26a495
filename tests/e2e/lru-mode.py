# SPDX-License-Identifier: GPL-2.0-or-later
# long
"""LRU-batch code shows in pwrite with the older LRU and not with MGLRU, and undoing the change shows as an improvement."""
import subprocess

from reallab import Lab, TOP, TREE, print_table

CHANGED = {"REGRESSION", "IMPROVEMENT"}


def split(comparisons):
    modes = {"classic": [], "mglru": []}
    for (_, params), c in comparisons.items():
        modes[params.rsplit("lru=", 1)[1]].append(c)
    return modes


def commit_with(series):
    """A commit with the series on the tree's branch, in a worktree of its own; the tree's branch does not move."""
    git = ["git", "-C", TREE, "-c", "user.name=Test", "-c", "user.email=test@example.org",
           "-c", "gc.auto=0"]
    work = lab.path("work")
    subprocess.run(git + ["worktree", "add", "-q", "--detach", work, "HEAD"], check=True)
    try:
        subprocess.run(["git", "-C", work] + git[3:] + ["am", "-q", f"{TOP}/tests/series/{series}.mbox"], check=True)
        head = subprocess.run(["git", "-C", work, "rev-parse", "HEAD", "HEAD^"], check=True, capture_output=True,
                              text=True).stdout.split()
        subprocess.run(git + ["branch", "-q", "-f", "test-" + series, head[0]], check=True)
        return head
    finally:
        subprocess.run(git + ["worktree", "remove", "--force", work], check=True)


with Lab() as lab:
    with_change, without = commit_with("activate-batch")
    done = lab.submit("activate-batch", benchmarks="pwrite", params="pwrite.size=1k", max_boots=6)
    body = ('{"base": "%s", "head": "%s", "benchmarks": ["pwrite"], "params": ["pwrite.size=1k"], '
            '"clock": "icount", "profile": "quick", "max_boots": 6}' % (with_change, without))
    undone = lab.api("/jobs", "POST", body.encode(), "application/json")["id"]

    first = lab.result(done)
    print_table("LRU batches changed", first)
    modes = split(first)
    assert modes["classic"] and modes["mglru"]
    assert all(c["verdict"] == "REGRESSION" for c in modes["classic"]), modes["classic"]
    assert all(c["verdict"] not in CHANGED for c in modes["mglru"]), modes["mglru"]

    second = lab.result(undone)
    print_table("and undone", second)
    modes = split(second)
    assert all(c["verdict"] == "IMPROVEMENT" for c in modes["classic"]), modes["classic"]
    assert all(c["verdict"] not in CHANGED for c in modes["mglru"]), modes["mglru"]
print("ok")
