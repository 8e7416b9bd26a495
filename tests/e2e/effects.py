# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes of the kernel are found by the benchmark they concern, and by it alone, on real kernels under icount."""
from reallab import Lab, print_table

CHANGED = {"REGRESSION", "IMPROVEMENT"}


def changed(comparisons):
    return {key for key, c in comparisons.items() if c["verdict"] in CHANGED}


def inside(c, value):
    """value within c's interval, widened by the digits that the interval itself does not resolve."""
    return c["ci_low_pct"] - .5 <= value <= c["ci_high_pct"] + .5


with Lab() as lab:
    aging = lab.submit("demo-slower", benchmarks="aging,pwrite,readtwice")
    nothing = lab.submit("demo-nothing", benchmarks="aging,pwrite,readtwice")
    tmpfs = lab.submit("tmpfs-slower", benchmarks="aging,pwrite,readtwice")
    again = lab.submit("demo-slower", benchmarks="aging")

    first = lab.result(aging)
    print_table("a slower aging walk", first)
    assert changed(first), "the slower aging walk was not found"
    assert {b for b, _ in changed(first)} == {"aging"}, changed(first)
    assert all(c["verdict"] == "REGRESSION" for k, c in first.items() if k[0] == "aging" and k in changed(first))

    none = lab.result(nothing)
    print_table("nothing measurable", none)
    assert not changed(none), changed(none)

    write = lab.result(tmpfs)
    print_table("a slower tmpfs write path", write)
    assert changed(write), "the slower tmpfs write path was not found"
    assert {b for b, _ in changed(write)} == {"pwrite"}, changed(write)

    second = lab.result(again)
    print_table("the slower aging walk, measured again", second)
    for key in changed(first):
        assert key in changed(second), key
        assert inside(first[key], second[key]["change_pct"]), (first[key], second[key])

    # every kernel once: the base and the slower arm of the last job came from the cache
    arms = lab.api(f"/jobs/{again}")["arms"]
    assert all(arms[arm]["cached"] for arm in ("base", "patched")), arms
print("ok")
