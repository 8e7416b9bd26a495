# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts for tests: a libvirtd each, in namespaces of its own (network, mounts, processes).

All that it starts lives in its process namespace and ends with it; its files are in one directory; its network is one
pair of interfaces that nothing else uses.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIBVIRTD_CONF = """listen_tls = 0
listen_tcp = 1
listen_addr = "{address}"
auth_tcp = "none"
auth_unix_ro = "none"
auth_unix_rw = "none"
"""
# a machine of its own: without it all would be the same one, which libvirt tells from their UUID
HOST_UUID = 'host_uuid = "00000000-0000-4000-8000-0000000000{number:02x}"\n'
QEMU_CONF = """user = "root"
group = "root"
security_driver = "none"
stdio_handler = "file"
cgroup_controllers = [ ]
namespaces = [ ]
"""
FOLDERS = {"run": "/run/libvirt", "etc": "/etc/libvirt", "lib": "/var/lib/libvirt", "cache": "/var/cache/libvirt",
           "log": "/var/log/libvirt", "lock": "/run/lock"}     # the last: which terminals are in use


def missing():
    """What this machine lacks for it, or None."""
    if os.geteuid() != 0:
        return "namespaces: only root may make them"
    for program in ("ip", "unshare", "nsenter", "libvirtd", "virsh"):
        if not shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin"):
            return program
    return None


def run(*argv, check=True):
    return subprocess.run(argv, check=check, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


class Host:
    def __init__(self, number):
        self.number = number
        self.name = f"rlt{os.getpid()}-{number}"
        self.link = f"rlt{os.getpid() % 100000}n{number}"
        subnet = os.getpid() % 250
        self.address = f"198.18.{subnet}.{4 * number + 2}"
        self.gateway = f"198.18.{subnet}.{4 * number + 1}"
        self.uri = f"qemu+tcp://{self.address}/system"
        self.dir = self.init = self.libvirtd = None

    def start(self):
        self.dir = tempfile.mkdtemp(prefix="rl-host-", dir="/var/tmp")
        for folder in FOLDERS:
            os.mkdir(f"{self.dir}/{folder}")
        with open(f"{self.dir}/etc/libvirtd.conf", "w") as f:
            f.write(LIBVIRTD_CONF.format(address=self.address) + HOST_UUID.format(number=self.number))
        with open(f"{self.dir}/etc/qemu.conf", "w") as f:
            f.write(QEMU_CONF)
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        run("ip", "addr", "add", f"{self.gateway}/30", "dev", self.link)
        run("ip", "link", "set", self.link, "up")
        for words in (["link", "set", "lo", "up"], ["addr", "add", f"{self.address}/30", "dev", "eth0"],
                      ["link", "set", "eth0", "up"]):
            run("ip", "-n", self.name, *words)
        binds = " && ".join(f"mkdir -p {to} && mount --bind {self.dir}/{at} {to}" for at, to in FOLDERS.items())
        self.init = subprocess.Popen(
            ["ip", "netns", "exec", self.name, "unshare", "-m", "-p", "-f", "--mount-proc", "--kill-child", "sh", "-c",
             # its first process lets the kernel reap what is orphaned there: libvirt waits for its QEMUs to be gone
             f"mount --make-rprivate / && {binds} && touch {self.dir}/ready && exec env --ignore-signal=CHLD sleep 3600"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until(lambda: os.path.exists(f"{self.dir}/ready"))
        self.start_libvirtd()

    def inside(self):
        """The first process of the namespaces."""
        with open(f"/proc/{self.init.pid}/task/{self.init.pid}/children") as f:
            return f.read().split()[0]

    def start_libvirtd(self):
        with open(f"{self.dir}/libvirtd.log", "a") as log:
            self.libvirtd = subprocess.Popen(
                ["nsenter", "-t", self.inside(), "-m", "-r", "-p", "-n", "libvirtd", "--listen", "-f", "/etc/libvirt/libvirtd.conf",
                 "-p", "/run/libvirt/libvirtd.pid"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.until(lambda: self.virsh("version", check=False).returncode == 0)

    def kill_libvirtd(self):
        """Not nsenter, which waits for it, but the daemon itself; its virtual machines live on."""
        with open(f"/proc/{self.libvirtd.pid}/task/{self.libvirtd.pid}/children") as f:
            os.kill(int(f.read().split()[0]), signal.SIGKILL)
        self.libvirtd.wait(20)
        self.libvirtd = None

    def cut(self):
        run("ip", "link", "set", self.link, "down")

    def mend(self):
        run("ip", "link", "set", self.link, "up")

    def virsh(self, *words, check=True):
        return run("virsh", "-k", "0", "-c", self.uri, *words, check=check)

    def domains(self):
        return self.virsh("list", "--all", "--name").stdout.split()

    def volumes(self):
        found = []
        for pool in self.virsh("pool-list", "--name").stdout.split():
            found += [line.split()[0] for line in self.virsh("vol-list", pool).stdout.splitlines()[2:] if line.strip()]
        return found

    def until(self, true, within_s=30):
        end = time.monotonic() + within_s
        while not true():
            assert time.monotonic() < end, f"{self.name}: {open(self.dir + '/libvirtd.log').read()[-2000:]}"
            time.sleep(.1)

    def stop(self):
        """Whatever there is of it."""
        if self.init:
            try:
                os.kill(int(self.inside()), signal.SIGKILL)
            except (OSError, IndexError, ValueError):
                pass
            self.init.kill()
            self.init.wait(20)
        if self.libvirtd:
            self.libvirtd.wait(20)
        run("ip", "link", "del", self.link, check=False)
        run("ip", "netns", "del", self.name, check=False)
        if self.dir:
            shutil.rmtree(self.dir, ignore_errors=True)


class Hosts(list):
    def __init__(self, count):
        super().__init__(Host(number) for number in range(count))

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))   # through __exit__
        try:
            for host in self:
                host.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in self:
            host.stop()
