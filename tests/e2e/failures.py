# SPDX-License-Identifier: GPL-2.0-or-later
# long
"""Each way to fail ends in its own named state within its deadline, and the next job goes on."""
from reallab import Lab

with Lab(boot_timeout_s=40, silence_timeout_s=40, max_failed_boots=1) as lab:
    one = {"benchmarks": "aging", "params": "aging.nproc=1 aging.timeout_s=20"}
    jobs = {name: lab.submit(name, **one)
            for name in ("no-apply", "no-compile", "boot-oops", "boot-hang", "bench-hang")}
    last = lab.submit("demo-nothing", **one)

    ends = {name: lab.wait(job, 600) for name, job in jobs.items()}
    for name, end in ends.items():
        print(f"{name:12} {end['state']:14} {end['reason']:20} {end['message']}")

    end = ends["no-apply"]
    assert end["state"] == "apply-failed", end
    assert end["detail"]["patch"] == 1 and end["detail"]["file"].startswith("mm/"), end["detail"]
    assert end["detail"]["git"], end["detail"]

    end = ends["no-compile"]
    assert end["state"] == "build-failed", end
    assert end["detail"]["file"].startswith("mm/") and end["detail"]["line"] > 0, end["detail"]
    assert "error" in end["detail"]["error"] or end["detail"]["error"], end["detail"]

    for name, reasons in (("boot-oops", ("panic", "oops")), ("boot-hang", ("no-hello", "hang", "silent")),
                          ("bench-hang", ("benchmark-failed", "silent", "hang", "deadline"))):
        end = ends[name]
        assert end["state"] == "boot-failed", end
        assert end["detail"]["kind"] in reasons, end["detail"]
        assert end["failed_arm"] == "patched", end
    assert "Oops" in ends["boot-oops"]["detail"]["console"] or "panic" in ends["boot-oops"]["detail"]["console"]

    end = lab.wait(last, 600)
    assert end["state"] == "done", end
    assert not lab.qemus(), "QEMU left behind"
    page = lab.get(f"/jobs/{jobs['no-compile']}").decode()
    assert ends["no-compile"]["detail"]["file"] in page
print("ok")
