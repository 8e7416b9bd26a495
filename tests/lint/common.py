# SPDX-License-Identifier: GPL-2.0-or-later
"""What the static checks share: which files there are, how they are compiled, and many runs of one program."""

import concurrent.futures
import hashlib
import os
import pathlib
import shlex
import subprocess

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))


def files(*patterns):
    """Paths of ours that git knows or would take, relative to the top."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--deduplicate", "--", *patterns], cwd=TOP,
                         check=True, capture_output=True, text=True).stdout
    return sorted(path for path in out.splitlines() if (TOP / path).exists())


def compiler_flags():
    out = subprocess.run(["make", "-s", "--no-print-directory", "print-flags", f"BUILD={BUILD}"], cwd=TOP, check=True,
                         capture_output=True, text=True).stdout
    return shlex.split(out)


def flags_of(path, flags):
    return flags + ["-Iguest-image"] if path.startswith("guest-image/") else flags


def check_each(name, paths, command, cached=False):
    """Runs command(path) for each, several at a time; prints what fails. With cached, a file that passed is not looked
    at again until it, a header of it, or the command changes. Gives the exit status."""
    def one(path):
        argv = command(path)
        mark = None
        if cached:
            mark = BUILD / "lint" / f"{name}-{fingerprint(path, argv)}"
            if mark.exists():
                return None
        done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True)
        if done.returncode:
            return done.stdout + done.stderr
        if mark:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        return None

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = [text for text in pool.map(one, paths) if text]
    print("\n".join(found) if found else f"{len(paths)} files")
    return 1 if found or not paths else 0


def fingerprint(path, argv):
    flags = argv[argv.index("--") + 1:] if "--" in argv else argv[1:]
    source = subprocess.run(["clang", "-E", *[f for f in flags if f != path], path], cwd=TOP, capture_output=True)
    version = subprocess.run([argv[0], "--version"], capture_output=True).stdout
    rules = (TOP / ".clang-tidy").read_bytes()
    return hashlib.sha256(b"\0".join([source.stdout, version, rules, " ".join(argv).encode()])).hexdigest()[:32]
