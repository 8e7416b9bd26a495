# SPDX-License-Identifier: GPL-2.0-or-later
# long
"""Builds that are hostile: each thing they try is refused or ended by name, and the next job is what it would have been.

Most of it is on a fake: a git tree with a small Makefile that has kbuild's targets. What a Makefile of a series says is
run by make just as kbuild runs what a patch says. One series is for the real tree.
"""
import glob
import http.server
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from reallab import BUILD, CACHE, TOP, TREE, Lab

SECRET = "a-token-that-nobody-may-see"
TOOL = "#!/bin/sh\ncat $1/mm/a.c\n"
MAKEFILE = """\
all: bzImage
tinyconfig:
\tprintf 'CONFIG_64BIT=y\\n' > $(O)/.config
olddefconfig:
\ttrue
bzImage: act
\tmkdir -p $(O)/arch/x86/boot $(O)/include/config
\ttest -x $(O)/tool || cp tool $(O)/tool
\t$(CC) -c -o $(O)/a.o $(CURDIR)/mm/a.c
\techo 6.12.0-fake > $(O)/include/config/kernel.release
\ttouch $(O)/vmlinux $(O)/System.map
\t$(O)/tool $(CURDIR) > $(O)/arch/x86/boot/bzImage
\tobjcopy -O binary $(O)/a.o $(O)/a.bin && cat $(O)/a.bin >> $(O)/arch/x86/boot/bzImage
act:
\t@true
"""
# where labs lie, and not below /tmp: of that a build has its own, in which another user's build may write
state = tempfile.mkdtemp(prefix="regrlab-hostile-", dir="/var/tmp")
os.chmod(state, 0o755)
tree = f"{state}/tree"
cache = f"{state}/cache"
slots = os.path.join(cache, "worktrees")


def git(*args, **kw):
    return subprocess.run(["git", "-C", tree, "-c", "user.name=Tess", "-c", "user.email=tess@example.org",
                           "-c", "core.hooksPath=/dev/null", "-c", "filter.evil.smudge=cat", *args],
                          check=True, capture_output=True, text=True, **kw).stdout


def make_tree():
    os.makedirs(f"{tree}/mm")
    for name, text in (("Makefile", MAKEFILE), ("tool", TOOL), ("mm/a.c", "int one(void) { return 1; }\n")):
        with open(f"{tree}/{name}", "w") as f:
            f.write(text)
    os.chmod(f"{tree}/tool", 0o755)
    # what git must not do: run programs that the tree or its configuration names
    with open(f"{tree}/.gitattributes", "w") as f:
        f.write("*.c filter=evil\n")
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "a fake kernel")
    with open(f"{tree}/.git/hooks/post-checkout", "w") as f:
        f.write(f"#!/bin/sh\ntouch {state}/hook-ran\n")
    os.chmod(f"{tree}/.git/hooks/post-checkout", 0o755)
    git("config", "filter.evil.smudge", f"touch {state}/filter-ran; cat")
    for folder in ("benchmarks", "configs"):
        os.makedirs(f"{state}/{folder}")
    shutil.copy(f"{TOP}/jobs/benchmarks/aging.ini", f"{state}/benchmarks")
    with open(f"{state}/benchmarks/aging.ini") as f:
        text = f.read()
    with open(f"{state}/benchmarks/aging.ini", "w") as f:
        f.write("".join(line for line in text.splitlines(True) if not line.startswith("needs=")).replace(
            "primary=", "needs=\nprimary=", 1))
    with open(f"{state}/configs/lab-min.config", "w") as f:
        f.write("# base: tinyconfig\nCONFIG_EXTRA=y\n")


def series(lines=(), source=None):
    """A patch that makes the target 'act' run these lines of shell (one recipe line each), or changes mm/a.c."""
    if lines:
        with open(f"{tree}/Makefile", "w") as f:
            f.write(MAKEFILE.replace("\t@true\n", "".join(f"\t-@{line}\n" for line in lines)))
    if source:
        with open(f"{tree}/mm/a.c", "w") as f:
            f.write(source)
    git("commit", "-q", "-a", "-m", "mm: a change")
    mail = git("format-patch", "-1", "--stdout")
    git("reset", "-q", "--hard", "HEAD^")
    return mail


def build(mail, name, user=None, **place):
    """One run of the stage: events by type and the log."""
    run = f"{state}/jobs/{name}"
    os.makedirs(run)
    spec = {"job": 1, "tree": "fake", "has_series": True, "config": "lab-min", "benchmarks": ["aging"]}
    where = {"tree": "fake", "tree_path": tree, "tree_branch": "main", "cache_dir": cache,
             "benchmarks_dir": f"{state}/benchmarks", "configs_dir": f"{state}/configs", "build_disk_mib": 96,
             "build_memory_mib": 2048} | place
    for file, text in (("spec.json", json.dumps(spec)), ("place.json", json.dumps(where)), ("series.mbox", mail)):
        with open(f"{run}/{file}", "w") as f:
            f.write(text)
    argv = [f"{BUILD}/regrlab-job", "build", run]
    if user:
        # the program lies where that user can reach it
        shutil.copy(argv[0], f"{state}/regrlab-job")
        argv[0] = f"{state}/regrlab-job"
        subprocess.run(["chown", "-R", user, run], check=True)
        argv = ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups", *argv]
    start = time.monotonic()
    # any user can write there; a stage that cannot use TMPDIR says that it has to be done again
    env = os.environ | {"ASAN_OPTIONS": "detect_leaks=0", "TMPDIR": "/tmp"}
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, env=env)
    assert done.returncode == 0, (name, done.returncode)
    with open(f"{run}/events.jsonl") as f:
        events = [json.loads(line) for line in f]
    with open(f"{run}/log", errors="surrogateescape") as f:
        log = f.read()
    end = events[-1]
    print(f"{name:12} {time.monotonic() - start:6.1f} s  {end['state']:13} {end['reason']:12} {end['message']}", flush=True)
    return end, {e["arm"]: e for e in events if e["type"] == "arm"}, log


def expect(end, state, reason):
    assert (end["state"], end["reason"]) == (state, reason), end
    if reason:
        assert end["arm"] == "patched", end


GOOD = "int one(void) { return 2; }\n"


def clean_kernels():
    """What the good series gives where no hostile build ever was."""
    end, arms, _ = build(series(source=GOOD), "clean", cache_dir=f"{state}/clean-cache")
    expect(end, "built", "")
    return {arm: e["kernel_sha256"] for arm, e in arms.items()}


def check_next(name, clean):
    """A good series after a hostile one: built again, from what the hostile one left."""
    for folder in glob.glob(f"{cache}/kernels/*/"):
        shutil.rmtree(folder)
    end, arms, _ = build(series(source=GOOD), f"after-{name}")
    expect(end, "built", "")
    assert {arm: e["kernel_sha256"] for arm, e in arms.items()} == clean, f"the kernels after {name} are others"
    assert not any(e["cached"] for e in arms.values()), arms


def snapshot():
    """Every file below the state folder that builds may not touch, with size and time."""
    found = {}
    for folder, folders, files in os.walk(state):
        if folder.startswith(slots) and "/obj" in folder:
            continue
        folders[:] = [d for d in folders if f"{folder}/{d}" != f"{state}/jobs"]
        for name in files:
            status = os.lstat(f"{folder}/{name}")
            found[f"{folder}/{name}"] = (status.st_size, status.st_mtime_ns)
    return found


def running(word):
    return subprocess.run(["pgrep", "-f", word], stdout=subprocess.DEVNULL).returncode == 0


class Door(http.server.BaseHTTPRequestHandler):
    visits = 0

    def do_GET(self):
        Door.visits += 1
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


def test_reach(name, user=None, **place):
    """Network, secrets, files outside, programs that stay, escape sequences."""
    door = http.server.HTTPServer(("127.0.0.1", 0), Door)
    threading.Thread(target=door.serve_forever, daemon=True).start()
    port = door.server_address[1]
    slot = os.path.join(place.get("cache_dir", cache), "worktrees")
    outside = [f"{state}/evil", f"{cache}/kernels/evil", f"{cache}/evil", f"{slot}/evil", "$(CURDIR)/evil",
               "$(CURDIR)/.git/config", "$(CURDIR)/.git/hooks/post-checkout", "$$CCACHE_DIR/evil", f"{tree}/evil",
               "/usr/evil", "/etc/evil", "/evil", f"{state}/jobs/evil"]
    lines = [
        f"perl -e 'use Socket; socket(S, PF_INET, SOCK_STREAM, 0) or die \"no-socket $$!\\n\"; "
        f"connect(S, pack_sockaddr_in({port}, inet_aton(\"127.0.0.1\"))) or die \"no-connect\\n\"; print \"CONNECTED\\n\"'",
        f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo CONNECTED",
        f"cat {state}/regrlab.db {state}/regrlab.conf {state}/jobs/*/spec.json /etc/shadow /proc/1/environ",
        "grep -rs a-token-that /etc /var /tmp /home /root /srv /run",
        "ls / /root /home /var /run | head -50",
        *[f"echo evil >> {path} && echo WROTE {path}" for path in outside],
        "setsid nohup sleep 7311.5 >/dev/null 2>&1 &",
        "(trap '' TERM HUP; setsid sleep 7311.5) >/dev/null 2>&1 &",
        r"printf '\033[2J\033]0;owned\007\302\2332J mm/a.c:1:1: error: \033[31mred\n'",
        "echo THE-END; exit 1",
        # 'act' goes on after errors: a compiler that fails ends the job
        "touch $(O)/acted",
    ]
    mail = series(lines, source="int one(void) { return forgotten; }\n")
    before = snapshot()
    end, arms, log = build(mail, name, user, **place)
    expect(end, "build-failed", "does-not-build")
    assert "THE-END" in log
    assert "CONNECTED\n" not in log.replace("$ ", "") and Door.visits == 0, log[-3000:]
    assert "no-socket" in log
    assert SECRET not in log and "root:" not in log
    assert "\nWROTE" not in log, log[-3000:]
    after = {path: what for path, what in snapshot().items() if "/evil" in path or path in before}
    changed = {path for path in after if after[path] != before.get(path)}
    assert not {path for path in changed if path.startswith((f"{tree}/", f"{state}/secrets"))}, changed
    assert not any("/evil" in path for path in after), changed
    assert not running("sleep 7311.5"), "a program of the build goes on"
    text = log + json.dumps(end, ensure_ascii=False)
    assert not any(ord(c) < 32 and c not in "\n\t" or 0x7f <= ord(c) < 0xa0 for c in text), "control characters"
    door.shutdown()
    return mail


def test_limits(clean):
    """What is too much is ended by name."""
    for name, lines, words, place in (
            ("forks", ["sh -c 'bomb() { bomb | bomb & }; bomb; sleep 7312.5'"], "processes", {}),
            ("disk", ["for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=$(O)/big.$$i bs=1M count=64 status=none; done; sleep 60"],
             "MiB of disk", {}),
            ("memory", ["perl -e '$$n = 200 << 20; $$x = \"a\" x $$n; fork; sleep 60'"], "MiB of memory",
             {"build_memory_mib": 300}),
            ("log", ["yes '\t\033[31ma line of a log that has no end, and what a terminal would obey'"], "it printed more than", {})):
        end, _, log = build(series(lines), name, **place)
        expect(end, "build-failed", "build-limit")
        assert words in end["message"], end
        assert len(log) < 65 << 20, len(log)
        assert "\033" not in log
        assert not running("sleep 7312.5")
        assert not glob.glob(f"{slots}/*/obj-patched"), "what the build wrote is still there"
    check_next("limits", clean)


def test_links():
    """Links and pipes where the stage looks for files: it reads none, and what they lead to stays."""
    victim = f"{state}/victim"
    os.makedirs(f"{victim}/folder")
    for name in ("file", "folder/file", "config"):
        with open(f"{victim}/{name}", "w") as f:
            f.write(SECRET)
    for name, lines in (
            ("image-link", [f"rm -rf $(O)/arch/x86/boot; mkdir -p $(O)/arch/x86/boot; ln -s {victim}/file $(O)/arch/x86/boot/bzImage"]),
            ("folder-link", [f"rm -rf $(O)/arch; ln -s {victim}/folder $(O)/arch"]),
            ("pipe", ["mkdir -p $(O)/arch/x86/boot; rm -f $(O)/System.map; mkfifo $(O)/System.map"])):
        lines += [f"rm -f $(O)/.config; ln -s {victim}/config $(O)/.config; ln -s {victim}/config $(O)/.config.new",
                  f"ln -sfn {victim}/folder $(O)/more; mkdir -p $(O)/shut/in; chmod 0 $(O)/shut",
                  "touch $(O)/vmlinux; mkdir -p $(O)/include/config; echo 6 > $(O)/include/config/kernel.release; "
                  "kill -TERM $$PPID"]
        # make is ended here; what it left is looked at all the same
        end, arms, _ = build(series(lines), name)
        assert end["state"] == "build-failed" and "patched" not in arms, end
    # the same where make ends well
    ended_well = MAKEFILE.replace("bzImage: act\n", "bzImage:\n\ttouch $(O)/vmlinux $(O)/System.map; rm -rf $(O)/arch; "
                                  f"mkdir -p $(O)/arch/x86/boot; ln -s {victim}/file $(O)/arch/x86/boot/bzImage\n\nnever:\n")
    with open(f"{tree}/Makefile", "w") as f:
        f.write(ended_well)
    end, arms, _ = build(series(), "made-link")
    expect(end, "build-failed", "no-kernel")
    for name in ("file", "folder/file", "config"):
        with open(f"{victim}/{name}") as f:
            assert f.read() == SECRET, name
    for path in glob.glob(f"{cache}/kernels/*/*") + glob.glob(f"{state}/jobs/*/artifacts/*"):
        with open(path, "rb") as f:
            assert SECRET.encode() not in f.read(), path
    assert not glob.glob(f"{slots}/*/obj-patched")


def test_poison(clean):
    """A build that changes the tools and objects that it finds."""
    lines = ["printf '#!/bin/sh\\necho poison\\n' > $(O)/tool; chmod 755 $(O)/tool; echo poison > $(O)/a.o; "
             "touch -d 2100-01-01 $(O)/a.o $(O)/tool"]
    end, arms, _ = build(series(lines), "poison")
    assert end["state"] in ("built", "build-failed"), end
    check_next("poison", clean)


def test_fails_closed():
    """No sandbox, no build: the job says what is to be done."""
    end, arms, log = build(series(source=GOOD), "no-user", build_user="nobody-of-this-name")
    if os.geteuid() == 0:
        assert (end["state"], end["reason"]) == ("infra-failed", "sandbox"), end
        assert "nothing is built" in end["message"] and "[build] user" in end["message"], end
        assert not arms and "gcc" not in log, log


def may_unshare(user):
    """Whether the kernel lets that user make namespaces: it does not in a chroot."""
    return subprocess.run(["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups", "unshare", "-U", "true"],
                          stderr=subprocess.DEVNULL).returncode == 0


def test_pages():
    """The words of a hostile build on the page, in the report, in the log and on a terminal."""
    lab = Lab()
    with open(lab.path("regrlab.conf")) as f:
        text = f.read().replace(f"cache_dir={CACHE}\n", f"cache_dir={cache}\n")
    with open(lab.path("regrlab.conf"), "w") as f:
        f.write(f"{text}\n[tree fake]\npath={tree}\nbranch=main\n")
    mail = series([r"printf '\033[2J\033]0;owned\007<script>alert(1)</script>\n'",
                   r"printf 'mm/a.c:1:1: error: \033[31m<script>alert(2)</script>\302\2332J\n'; kill -TERM $$PPID"])
    with lab:
        job = lab.submit(mail.encode(), tree="fake", benchmarks="aging")
        end = lab.wait(job)
        assert end["state"] == "build-failed", end
        texts = {path: lab.get(path).decode() for path in
                 (f"/jobs/{job}", f"/api/v1/jobs/{job}/report.txt", f"/api/v1/jobs/{job}/log", f"/api/v1/jobs/{job}", "/")}
        for command in ("show", "log", "report"):
            done = subprocess.run([f"{BUILD}/regrlab", command, str(job)], capture_output=True,
                                  env=os.environ | {"REGRLAB_URL": lab.url})
            texts[f"regrlab {command}"] = done.stdout.decode()
        for name, text in texts.items():
            assert not any(ord(c) < 32 and c not in "\n\t\r" or 0x7f <= ord(c) < 0xa0 for c in text), name
        assert "<script>alert" not in texts[f"/jobs/{job}"]
        assert "alert(2)" in texts["regrlab show"] or "alert(2)" in texts[f"/jobs/{job}"], texts


def test_real_tree():
    """The real kernel's Makefile, changed by a series: it acts as soon as make reads it."""
    with tempfile.TemporaryDirectory(dir=state) as work:
        subprocess.run(["git", "-C", TREE, "show", "HEAD:Makefile"], check=True, stdout=open(f"{work}/a", "w"))
        with open(f"{work}/a") as f:
            text = f.read()
        evil = ("$(info $(shell cat " + f"{state}/regrlab.conf /etc/shadow; touch {CACHE}/evil {state}/evil; "
                "setsid sleep 7313.5 >/dev/null 2>&1 & echo ACTED as $$(id -u)))\n$(error the end)\n")
        with open(f"{work}/b", "w") as f:
            f.write(text + evil)
        diff = subprocess.run(["diff", "-u", "--label", "a/Makefile", "--label", "b/Makefile", f"{work}/a", f"{work}/b"],
                              capture_output=True, text=True).stdout
    mail = ("From: Ada Example <ada@example.org>\nDate: Mon, 6 Jan 2025 10:00:00 +0000\nSubject: [PATCH] Makefile: act\n\n"
            f"Why.\n---\ndiff --git a/Makefile b/Makefile\n{diff}")
    end, arms, log = build(mail, "real", tree="linux", tree_path=TREE, tree_branch="master", cache_dir=CACHE,
                           benchmarks_dir=f"{TOP}/jobs/benchmarks", configs_dir=f"{TOP}/guest-image/configs",
                           build_disk_mib=16384, build_memory_mib=0)
    expect(end, "build-failed", "does-not-build")
    assert "ACTED as" in log and "ACTED as 0" not in log and SECRET not in log and "root:" not in log
    assert not os.path.exists(f"{CACHE}/evil") and not os.path.exists(f"{state}/evil")
    assert not running("sleep 7313.5")
    assert arms["base"]["kernel"], arms


try:
    make_tree()
    for path in ("regrlab.db", "regrlab.conf"):
        with open(f"{state}/{path}", "w") as f:
            f.write(SECRET)
    clean = clean_kernels()
    check_next("nothing", clean)
    test_reach("reach")
    check_next("reach", clean)
    test_limits(clean)
    test_links()
    check_next("links", clean)
    test_poison(clean)
    test_fails_closed()
    if os.geteuid() == 0:
        other = f"{state}/other-cache"
        os.makedirs(other)
        shutil.chown(other, "nobody")
        if may_unshare("nobody"):
            test_reach("other-user", "nobody", cache_dir=other)
        else:   # in a chroot, say
            end, _, _ = build(series(source=GOOD), "other-user", "nobody", cache_dir=other)
            assert (end["state"], end["reason"]) == ("infra-failed", "sandbox"), end
    for mark in ("hook-ran", "filter-ran"):
        assert not os.path.exists(f"{state}/{mark}"), mark
    test_pages()
    test_real_tree()
finally:
    if not os.environ.get("KEEP"):
        shutil.rmtree(state, ignore_errors=True)
print("ok")
sys.stdout.flush()
