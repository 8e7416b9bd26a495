# SPDX-License-Identifier: GPL-2.0-or-later
"""The build stage alone, on a real kernel: built, incremental, cached, and each way it can fail."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from reallab import BUILD, CACHE, TOP, TREE

state = tempfile.mkdtemp(prefix="regrlab-build-", dir=os.environ.get("TMPDIR", "/var/tmp"))


def build(series, benchmarks_dir=f"{TOP}/jobs/benchmarks", benchmark="aging"):
    """One run of the stage: its events and its wall time."""
    run = tempfile.mkdtemp(prefix=f"{series}-", dir=state)
    shutil.copy(f"{TOP}/tests/series/{series}.mbox", f"{run}/series.mbox")
    spec = {"job": 1, "tree": "linux", "has_series": True, "config": "lab-min", "benchmarks": [benchmark]}
    place = {"tree": "linux", "tree_path": TREE, "tree_branch": "master", "cache_dir": CACHE,
             "benchmarks_dir": benchmarks_dir, "configs_dir": f"{TOP}/guest-image/configs"}
    for name, value in (("spec.json", spec), ("place.json", place)):
        with open(f"{run}/{name}", "w") as f:
            json.dump(value, f)
    start = time.monotonic()
    done = subprocess.run([f"{BUILD}/regrlab-job", "build", run], stdin=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    assert done.returncode == 0, done.returncode
    with open(f"{run}/events.jsonl") as f:
        events = [json.loads(line) for line in f]
    print(f"{series:12} {seconds:7.1f} s  {events[-1]['state']:13} {events[-1]['message']}", flush=True)
    return run, events, seconds


def arms(events):
    return {e["arm"]: e for e in events if e["type"] == "arm"}


def check_progress(events):
    """Within a step progress goes forward, and never past its end."""
    before = None
    for e in (e for e in events if e["type"] == "progress"):
        assert e["total"] == 0 or 0 <= e["done"] <= e["total"], e
        if before and before["step"] == e["step"] and before["total"] == e["total"]:
            assert e["done"] >= before["done"], (before, e)
        before = e


try:
    run, events, _ = build("demo-nothing")
    assert events[-1]["state"] == "built", events[-1]
    check_progress(events)
    first = arms(events)
    assert set(first) == {"base", "patched"}
    assert first["base"]["tree_hash"] != first["patched"]["tree_hash"]
    for arm, e in first.items():
        with open(e["kernel"], "rb") as f:
            image = f.read()
        assert image[0x202:0x206] == b"HdrS" and len(image) == e["kernel_bytes"], e
        assert re.match(r"\d+\.\d+", e["kernel_release"]) and e["kernel_release"][-1] != "+", e
        config = open(f"{run}/artifacts/config-{arm}").read()
        assert "CONFIG_LRU_GEN=y\n" in config and "CONFIG_VIRTIO_CONSOLE=y\n" in config
    source = next(e for e in events if e["type"] == "source")
    assert source["base_chosen_by"] == "tree default" and source["patches"][0]["file_count"] == 1, source

    _, events, seconds = build("demo-nothing")
    again = arms(events)
    assert all(again[arm]["cached"] for arm in again), again
    assert all(again[arm]["kernel_sha256"] == first[arm]["kernel_sha256"] for arm in again)
    assert seconds < 120, "kernels in the cache are there at once"

    _, events, _ = build("tmpfs-slower")
    other = arms(events)
    assert other["base"]["cached"], other
    assert other["patched"]["cached"] or other["patched"]["incremental"], other

    _, events, _ = build("no-apply")
    end = events[-1]
    assert (end["state"], end["arm"]) == ("apply-failed", "patched"), end
    assert end["detail"]["file"] == "mm/vmscan.c" and end["detail"]["hunk"].startswith("@@ -"), end
    assert not arms(events)

    _, events, _ = build("no-compile")
    end = events[-1]
    assert (end["state"], end["arm"]) == ("build-failed", "patched"), end
    assert end["detail"]["file"] == "mm/vmscan.c" and end["detail"]["line"] > 3000, end
    assert "walk_slack" in end["detail"]["error"] and "suitable_to_scan" in end["detail"]["context"], end

    # an option that this kernel does not have is lost in olddefconfig, and named with who needs it
    needy = f"{state}/benchmarks"
    os.mkdir(needy)
    text = open(f"{TOP}/jobs/benchmarks/aging.ini").read().replace("needs=", "needs=CONFIG_NO_SUCH_OPTION=y ")
    open(f"{needy}/aging.ini", "w").write(text)
    _, events, _ = build("demo-nothing", benchmarks_dir=needy)
    end = events[-1]
    assert (end["state"], end["reason"]) == ("build-failed", "config-option-lost"), end
    assert "CONFIG_NO_SUCH_OPTION=y" in end["message"] and "aging" in end["message"], end
finally:
    if not os.environ.get("KEEP"):
        shutil.rmtree(state, ignore_errors=True)
print("ok")
