# SPDX-License-Identifier: GPL-2.0-or-later
"""walk.mjs, in headless Chromium, against a daemon with a fake stage. Pictures of what it saw are left in build/browser."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "http"))

from lab import TOP, lab, main  # noqa: E402


def test_walk():
    pictures = TOP / "build/browser"
    pictures.mkdir(parents=True, exist_ok=True)
    with lab() as one:
        subprocess.run(["node", TOP / "tests/browser/walk.mjs", f"http://127.0.0.1:{one.port}", TOP, pictures], check=True,
                       timeout=280)


main(globals())
