# SPDX-License-Identifier: GPL-2.0-or-later
# long
"""Virtual machines and volumes that dead stages left on a libvirtd and in an embedded driver: they go, all others stay.

The libvirtd and the QEMUs are real; the guests are empty.
"""
# timeout: 300

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "bench"), str(HERE.parent / "http")]
import libvirtds  # noqa: E402
from lab import BUILD  # noqa: E402

MARK = '<metadata><regrlab:boot xmlns:regrlab="urn:regrlab:boot:1" lab="{lab}" run="{run}" job="1" boot="0"/></metadata>'
DOMAIN = """<domain type="qemu"><name>{name}</name>{metadata}<memory unit="MiB">32</memory><vcpu>1</vcpu>
<os><type arch="x86_64" machine="pc">hvm</type></os>
<devices><controller type="usb" model="none"/><audio id="1" type="none"/><memballoon model="none"/></devices></domain>
"""


def name_of(path):
    """As jobs/measure-boot.c has it: of labs (their cache) and runs (their directory)."""
    try:
        machine = pathlib.Path("/etc/machine-id").read_text()
    except OSError:
        machine = socket.gethostname()
    return hashlib.sha256(f"{machine}\n{path}".encode()).hexdigest()[:12]


def domain(name, lab=None, run=None):
    return DOMAIN.format(name=name, metadata=MARK.format(lab=lab, run=run) if run else "")


class Place:
    """A lab without a daemon: a state directory and a cache."""

    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="rl-left-", dir="/var/tmp"))
        self.top.chmod(0o755)
        self.state, self.cache = self.top / "state", self.top / "cache"
        (self.state / "jobs").mkdir(parents=True)
        self.lab = name_of(self.cache)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top)

    def run(self, job):
        """The directory of a job; its run's name."""
        path = self.state / f"jobs/{job}"
        path.mkdir(exist_ok=True)
        (path / "lock").touch()     # as every stage makes it
        return name_of(path)

    def job_program(self, action, path):
        done = subprocess.run([BUILD / "regrlab-job", action, path], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (action, done)
        return done.stdout

    def look(self, uri):
        """What the daemon has done each minute; the facts found."""
        path = self.top / "look"
        path.mkdir(exist_ok=True)
        (path / "place.json").write_text(json.dumps({"cache_dir": str(self.cache), "host": "remote", "host_uri": uri, "tree": "x"}))
        self.job_program("look", path)
        facts = json.loads((path / "host.json").read_text())
        assert facts["up"], facts
        return facts

    def sweep(self, uri):
        """What the daemon has done daily."""
        order = self.top / "order.json"
        order.write_text(json.dumps({"state_dir": str(self.state), "cache_dir": str(self.cache), "last_job": 99, "live": [],
                                     "job_program": str(BUILD / "regrlab-job"), "kernels": [], "hosts": [uri], "grace_s": 3600}))
        return self.job_program("sweep", order)

    def create(self, virsh, name, *owner):
        path = self.top / f"{name}.xml"
        path.write_text(domain(name, *owner))
        virsh("create", str(path))


@contextlib.contextmanager
def held(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def test_libvirtd():
    """On a host of its own that other labs use, too."""
    lacks = libvirtds.missing()
    if lacks:
        print(f"skipped: this machine has no {lacks}")
        sys.exit(77)
    with Place() as place, libvirtds.Hosts(1) as (host,):
        assert place.look(host.uri)["ended"] == 0
        dead, live, other = place.run(1), place.run(2), name_of("/another/lab")
        place.create(host.virsh, "rl-1-0-dead", place.lab, dead)
        place.create(host.virsh, "rl-2-0-live", place.lab, live)
        place.create(host.virsh, "rl-1-0-other", other, dead)
        place.create(host.virsh, "rl-1-1-bare")
        place.create(host.virsh, "somebody")
        pool = host.virsh("pool-list", "--name").stdout.split()[0]
        volumes = {f"boot-{lab}-{run}-{n}" for n, (lab, run) in enumerate(((place.lab, dead), (place.lab, live), (other, dead)))}
        volumes |= {"kept-" + "0" * 64, "precious.img", f"boot-{place.lab[:-1]}-{dead}-x", f"old-boot-{place.lab}-{dead}-x"}
        for volume in volumes:
            host.virsh("vol-create-as", pool, volume, "1M")
        with held(place.cache / "volumes/remote" / f"run-{live}"):
            assert place.look(host.uri)["ended"] == 1
            assert set(host.domains()) == {"rl-2-0-live", "rl-1-0-other", "rl-1-1-bare", "somebody"}, host.domains()
            gone = {f"boot-{place.lab}-{dead}-0"}
            assert set(host.volumes()) == volumes - gone, set(host.volumes()) ^ volumes
            assert place.look(host.uri)["ended"] == 0
        # now its stage is dead, too
        assert place.look(host.uri)["ended"] == 1
        assert set(host.domains()) == {"rl-1-0-other", "rl-1-1-bare", "somebody"}, host.domains()
        assert set(host.volumes()) == volumes - gone - {f"boot-{place.lab}-{live}-1"}, host.volumes()
        check_room(place, host, pool)


def check_room(place, host, pool):
    """Beyond 1 GiB the kernels longest unused go, and none that a stage uses."""
    marks, names = place.cache / "volumes/remote", {age: "kept-" + str(age) * 64 for age in (1, 2, 3)}
    for age, name in names.items():
        host.virsh("vol-create-as", pool, name, "600M", "--allocation", "600M")
        (marks / name).write_text("1")
        os.utime(marks / name, (0, time.time() - age * 3600))
    with held(marks / names[3]):
        place.look(host.uri)
        assert {names[1], names[3]} == {v for v in host.volumes() if v in names.values()}, host.volumes()
    os.utime(marks / names[3], (0, time.time() - 3 * 3600))
    place.look(host.uri)
    assert [names[1]] == [v for v in host.volumes() if v in names.values()], host.volumes()
    assert not (marks / names[2]).exists() and (marks / names[1]).exists()


def test_embedded():
    """In an embedded driver's folder the sweep ends what its own lab's dead stages left."""
    with Place() as place:
        check_embedded(place)


def check_unstarted(place, uri, virsh, qemus):
    """A stage was killed while libvirt started a domain: libvirt takes that start for going on, for ever."""
    place.create(virsh, "rl-3-0-start", place.lab, place.run(3))
    path = place.top / "l/run/qemu/rl-3-0-start.xml"
    status = re.sub(r"<domstatus [^>]*>", "<domstatus state='paused' reason='starting up' pid='0'>", path.read_text())
    status = re.sub(r"^ *<job .*\n", "", status, flags=re.M)
    path.write_text(status.replace("  <domain type=", "  <job type='none' async='start' flags='0x11' asyncStarted='1'/>\n  <domain type=", 1))
    assert "async='start'" in path.read_text()
    assert "rl-3-0-start" in qemus().values()
    assert place.look(uri)["up"]
    assert "rl-3-0-start" not in qemus().values() and not path.exists()


def check_embedded(place):
    uri = f"qemu:///embed?root={place.top}/l"   # short: no link in /run

    def virsh(*words):
        done = subprocess.run(["virsh", "-c", uri, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (words, done)
        return done.stdout

    def qemus():
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
                if "qemu-system" in words[0] and str(place.top) in " ".join(words):
                    found[int(pid)] = words[words.index("-name") + 1].split(",")[0].removeprefix("guest=")
        return found

    try:
        assert "not looked at" not in place.sweep(uri)
        dead, live = place.run(1), place.run(2)
        place.create(virsh, "rl-1-0-dead", place.lab, dead)
        place.create(virsh, "rl-2-0-live", place.lab, live)
        place.create(virsh, "rl-2-0-wrong", place.lab, dead)     # its name is of another job than its mark
        place.create(virsh, "rl-7-0-other", name_of("/another/lab"), name_of("/another/state/jobs/7"))
        place.create(virsh, "rl-1-1-bare")
        place.create(virsh, "somebody")
        assert len(qemus()) == 6, qemus()
        with open(place.state / "jobs/2/lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            said = place.sweep(uri)
            assert said.count("remove domain") == 1 and "rl-1-0-dead" in said, said
            assert sorted(qemus().values()) == ["rl-1-1-bare", "rl-2-0-live", "rl-2-0-wrong", "rl-7-0-other", "somebody"], qemus()
            assert "remove domain" not in place.sweep(uri)
        said = place.sweep(uri)
        assert said.count("remove domain") == 1 and "rl-2-0-live" in said, said
        assert sorted(qemus().values()) == ["rl-1-1-bare", "rl-2-0-wrong", "rl-7-0-other", "somebody"], qemus()
        check_unstarted(place, uri, virsh, qemus)
    finally:
        for pid in qemus():
            os.kill(pid, signal.SIGKILL)


test_embedded()
print("embedded: ok", flush=True)
test_libvirtd()
print("libvirtd: ok", flush=True)
