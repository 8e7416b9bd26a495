#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Man pages have no mistakes and say every key, option, command and route; the completions know every command and option."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from common import BUILD, TOP

ENV = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "200", "MAN_KEEP_FORMATTING": "", "MANROFFOPT": ""}


def run(*argv, **more):
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True, env=ENV, timeout=60, **more)


def make_doc(*args):
    done = run(BUILD / "make-doc", *args, cwd=TOP)
    assert done.returncode == 0 and done.stdout, done
    return done.stdout


def page(name, folder):
    """The page as text without layout; what man complains of is a failure."""
    path = pathlib.Path(folder, name)
    path.write_text(make_doc("man", f"doc/man/{name}.in", BUILD))
    done = run("man", "--warnings", "-l", path)
    assert done.returncode == 0 and not done.stderr, f"{name}: {done.stderr}"
    return re.sub(r"\s+", " ", re.sub(r".\x08", "", done.stdout))


def help_text(*argv):
    done = run(*argv, "--help")
    assert done.returncode == 0, done
    return done.stdout


def commands():
    return re.findall(r"^  ([a-z][a-z-]*)\s{2,}", help_text(BUILD / "regrlab"), re.M)


def options(*argv):
    return set(re.findall(r"^  (?:-\w, )?(--[a-z][a-z-]*)", help_text(*argv), re.M)) - {"--help"}


def check_man(folder):
    pages = {path.stem: page(path.stem, folder) for path in sorted(TOP.glob("doc/man/*.in"))}
    example = (TOP / "deploy/regrlab.conf.example").read_text()
    wanted = {
        "regrlab.conf.5": [f" {key}=" for key in re.findall(r"^#?([a-z_]+)=", example, re.M)] +
                          [f"[{section} NAME]" if name else f"[{section}]"
                           for section, name in re.findall(r"^\[(\w+)( \w+)?\]", example, re.M)],
        "regrlab-api.7": [f" {method} {'/api/v1' if api else ''}{path} " for method, api, path in re.findall(
            r'^\t\{ "([A-Z]+)", (API )?"([^"]+)"', (TOP / "daemon/routes.c").read_text(), re.M)] +
            re.findall(r'^\t\{ "([a-z_]+)", "[^"]+" \},$', (TOP / "daemon/openapi.c").read_text(), re.M),
        "regrlabd.8": options(BUILD / "regrlabd"),
        "regrlab-host.8": options(BUILD / "regrlab-host"),
        "regrlab.1": {f"regrlab {command}" for command in commands()} |
                     {option for command in commands() for option in options(BUILD / "regrlab", command)},
    }
    for name, words in wanted.items():
        assert len(words) > 5, (name, words)
        missing = [word for word in words if word not in pages[name]]
        assert not missing, f"{name} does not say {missing}"
    print({name: len(words) for name, words in wanted.items()})


def bash_words(path, *words):
    script = f'source {path}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _regrlab; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = run("bash", "-euc", script, "bash", *words)
    assert done.returncode == 0, done
    return set(done.stdout.split())


def check_bash(folder):
    path = pathlib.Path(folder, "regrlab.bash")
    path.write_text(make_doc("bash", BUILD))
    assert bash_words(path, "regrlab", "") == set(commands()) | {"help"}
    assert bash_words(path, "regrlab", "ca") == {"cancel", "calibrate"}
    assert bash_words(path, "regrlab", "help", "sub") == {"submit"}
    assert bash_words(path, "regrlab", "token", "") >= {"create", "list", "revoke"} or \
        bash_words(path, "regrlab", "token", "c") == {"create"}
    for command in commands():
        found = {word.rstrip("=") for word in bash_words(path, "regrlab", command, "--")}
        assert found == options(BUILD / "regrlab", command) | {"--help"}, (command, found)
    if shutil.which("shellcheck"):
        done = run("shellcheck", "-s", "bash", path)
        assert done.returncode == 0, done.stdout


def check_zsh(folder):
    """Its own functions stand in for zsh's: they print what they are given."""
    path = pathlib.Path(folder, "_regrlab")
    path.write_text(make_doc("zsh", BUILD))
    script = (f'_describe() {{ print -l $commands }}; _arguments() {{ print -l -- "$@" }}; '
              f'words=("$@"); CURRENT=$#; source {path}')
    done = run("zsh", "-fc", script, "zsh", "regrlab", "")
    assert done.returncode == 0 and {line.split(":")[0] for line in done.stdout.splitlines()} == set(commands()) | {"help"}, done
    for command in commands():
        done = run("zsh", "-fc", script, "zsh", "regrlab", command, "")
        found = set(re.findall(r"^(--[a-z-]+)=?\[", done.stdout, re.M))
        assert done.returncode == 0 and found == options(BUILD / "regrlab", command), (command, done)


def main():
    for program in ("man", "zsh"):
        if not shutil.which(program):
            print(f"there is no {program}")
            return 77
    with tempfile.TemporaryDirectory() as folder:
        bad = pathlib.Path(folder, "bad.1")
        bad.write_text(".TH bad 1\n.SH NAME\n.nosuch macro\n")
        assert run("man", "--warnings", "-l", bad).stderr, "self-test: a bad page was not caught"
        check_man(folder)
        check_bash(folder)
        check_zsh(folder)
    return 0


sys.exit(main())
