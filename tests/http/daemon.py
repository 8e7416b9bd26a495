# SPDX-License-Identifier: GPL-2.0-or-later
"""regrlabd as a program: options, configurations that it refuses, ports in use, a disk that fills up, systemd."""

import os
import re
import resource
import signal
import socket
import subprocess
import time

from lab import API, BUILD, Lab, lab, main, mbox


def run(*args):
    return subprocess.run([BUILD / "regrlabd", *args], capture_output=True, text=True, timeout=30)


def with_config(text, *args):
    one = Lab()
    try:
        one.config.write_text(text)
        return run("--config", one.config, *args)
    finally:
        one.close()


TREE = "[tree linux]\npath=/srv/linux\n"


def test_options():
    text = run("--help")
    assert text.returncode == 0
    for option in ("--config", "--check-config", "--print-config"):
        assert option in text.stdout, option
    for args in (["--nosuch"], ["extra"], ["--config", "/nowhere/x.conf"], ["--config", "/"]):
        answer = run(*args)
        assert answer.returncode == 2 and answer.stderr.startswith("regrlabd: ") and not answer.stdout, (args, answer)


def test_check_config():
    assert with_config(TREE, "--check-config").returncode == 0
    for text, words in ((TREE + "[daemon]\nport=0\n", ":4: [daemon] port: '0' is not a whole number from 1 to 65535"),
                        (TREE + "[daemon]\nlisten=0.0.0.0\n", "loopback"), (TREE + "[nosuch]\n", "no such section"),
                        ("", "at least one tree"), (TREE + "[daemon]\nqueue-max=1\n", "no such key")):
        answer = with_config(text, "--check-config")
        assert answer.returncode == 2 and words in answer.stderr, answer.stderr
        assert with_config(text).returncode == 2
    answer = with_config("[daemon]\nport=0\nprot=1\nlisten\n", "--check-config")
    assert answer.returncode == 2, answer
    ends = (":2: [daemon] port: '0' is not a whole number from 1 to 65535", ":3: [daemon] prot: no such key",
            ":4: neither [SECTION] nor KEY=VALUE", "[tree NAME]: at least one tree must be there, with its path")
    lines = answer.stderr.splitlines()
    assert len(lines) == len(ends) and all(line.startswith("regrlabd: ") and end in line
                                           for line, end in zip(lines, ends)), answer.stderr
    printed = with_config(TREE, "--print-config")
    assert printed.returncode == 0
    assert with_config(printed.stdout, "--print-config").stdout == printed.stdout
    example = run("--config", "deploy/regrlab.conf.example", "--check-config")
    assert example.returncode == 0, example.stderr


def test_port_in_use():
    one = Lab()
    with socket.socket() as s:
        s.bind(("127.0.0.1", one.port))
        s.listen()
        answer = run("--config", one.config)
        assert answer.returncode == 1 and "cannot listen" in answer.stderr, answer
    one.close()


def test_newer_database():
    with lab() as one:
        one.stop()
        subprocess.run(["/usr/bin/python3", "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("
                        "'PRAGMA user_version = 99').connection.commit()", one.state / "regrlab.db"], check=True)
        answer = run("--config", one.config)
        assert answer.returncode == 1 and "later release" in answer.stderr, answer


def test_cpus():
    """The daemon is never where is measured; what it starts may be."""
    every = os.sched_getaffinity(0)
    if len(every) < 2:
        print("    needs two CPUs")
        return
    measuring = max(every)
    host = f"[host local]\nuri=test:///default\nvm_cpus={measuring}\n"
    with lab(hosts=(), extra=host) as one:
        assert os.sched_getaffinity(one.process.pid) == every - {measuring}
        number = one.new("hang=build")
        one.wait(number, {"building"})
        stages = []
        while not stages:
            found = subprocess.run(["pgrep", "-P", str(one.process.pid), "-f", "fake-job build"], capture_output=True, text=True)
            stages = [int(pid) for pid in found.stdout.split()]
        assert {frozenset(os.sched_getaffinity(pid)) for pid in stages} == {frozenset(every)}
        assert os.sched_getaffinity(one.process.pid) == every - {measuring}
        one.call("DELETE", f"{API}/jobs/{number}")
    with lab(cpus=measuring) as one:
        assert os.sched_getaffinity(one.process.pid) == {measuring}
    with lab() as one:  # a host that uses all leaves none to keep off
        assert os.sched_getaffinity(one.process.pid) == every
    answer = with_config(TREE + host + f"[daemon]\ncpus={measuring}\n", "--check-config")
    assert answer.returncode == 2 and f"CPU {measuring} is one that a host on this machine measures on" in answer.stderr


def test_signals():
    for number in (signal.SIGTERM, signal.SIGINT):
        with lab() as one:
            one.process.send_signal(number)
            assert one.process.wait(10) == 0
            one.process = None
    with lab() as one:  # clients who are in the middle of something do not keep it
        s = socket.create_connection(("127.0.0.1", one.port))
        s.sendall(b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx")
        time.sleep(0.2)
        assert one.stop() < 5
        s.close()


def test_notify():
    """READY=1 when it answers, WATCHDOG=1 while it does, STOPPING=1 at the end."""
    one = Lab()
    path = str(one.dir / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(path)
        s.settimeout(20)
        env = dict(os.environ, NOTIFY_SOCKET=path, WATCHDOG_USEC="400000")
        process = subprocess.Popen([BUILD / "regrlabd", "--config", one.config], env=env, stderr=subprocess.DEVNULL)
        assert s.recv(100) == b"READY=1"
        assert one.get("/healthz").status == 200
        assert [s.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3
        process.terminate()
        left = b""
        while left != b"STOPPING=1":
            left = s.recv(100)
            assert left in (b"WATCHDOG=1", b"STOPPING=1"), left
        assert process.wait(10) == 0
    one.close()


def test_socket_activation():
    """A socket that systemd passes is the one that is answered on; one of another address is refused."""
    def activate(one, port):
        argv = ["systemd-socket-activate", f"--listen=127.0.0.1:{port}", "-E", "ASAN_OPTIONS", "-E", "LSAN_OPTIONS",
                BUILD / "regrlabd", "--config", one.config]
        process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                return process, socket.create_connection(("127.0.0.1", port))
            except OSError:
                time.sleep(0.05)
        raise AssertionError("systemd-socket-activate does not listen")

    one = Lab()
    process, first = activate(one, one.port)
    first.close()
    assert one.get("/healthz").status == 200
    process.terminate()
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0 and f"listening on http://127.0.0.1:{one.port}" in said, said
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        other = s.getsockname()[1]
    process, first = activate(one, other)
    _, said = process.communicate(timeout=20)
    first.close()
    assert process.returncode == 1 and f"listens on 127.0.0.1:{other}" in said and "make both the same" in said, said
    one.close()


def test_credential():
    """The key of the tokens may be the service's credential."""
    one = Lab()
    folder = one.dir / "credentials"
    folder.mkdir()
    key = folder / "regrlab.token.key"
    key.write_text("0123456789abcdef" * 4 + "\n")
    key.chmod(0o600)
    made = subprocess.run([BUILD / "regrlabd", "--config", one.config, "--new-admin-token"], capture_output=True, text=True, timeout=30,
                          env=dict(os.environ, CREDENTIALS_DIRECTORY=str(folder)), check=True).stdout.strip()
    assert not (one.state / "token.key").exists()
    one.config.write_text(one.config.read_text() + f"[access]\ntoken_key={key}\n")
    one.start()
    assert one.get(API + "/tokens", Authorization=f"Bearer {made}").status == 200
    one.stop()
    one.close()


def test_reload():
    """SIGHUP: what can change does, what cannot says so, and a bad file changes nothing."""
    def reload(text, words):
        before = one.log.read_text()
        one.config.write_text(text)
        one.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 20
        while words not in one.log.read_text()[len(before):]:
            assert time.monotonic() < end, one.log.read_text()
            time.sleep(0.02)
        return one.log.read_text()[len(before):]

    with lab() as one:
        text = one.config.read_text()
        assert one.submit(head="a").status == 202
        reload(text + "[access]\nread_needs_token=maybe\n", "the configuration stays as it was: ")
        assert one.get(API + "/jobs").status == 200
        said = reload(text.replace(f"port={one.port}", f"port={one.port}\nqueue_max=1\nconnections_max=5") +
                      "[host more]\nuri=test:///default\n", "[host more] takes effect when the daemon is started again")
        assert "read again: 1 keys changed" in said and "[daemon] connections_max takes effect when" in said, said
        assert one.get("/healthz").status == 200
        one.submit(head="b")
        assert one.submit(head="c").status == 429
        assert "[daemon] queue_max" not in said


def test_log_names_the_job():
    with lab() as one:
        number = one.new("crash=build:1")
        one.wait(number)
        text = one.log.read_text()
        assert len(re.findall(rf"job {number}: the build stage ended without saying how: killed by signal 9", text)) == 1, text


def test_disk_full():
    """No room for the database: 503, and everything goes on when there is room again."""
    if os.geteuid() != 0:
        print("    needs root to mount a small disk")
        return
    with lab() as one:
        one.stop()
        one.state.rename(one.dir / "empty")
        one.state.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "regrlab-test", one.state], check=True)
        try:
            one.start()
            big = mbox().replace(b"Why it is done.", b"Why it is done. " * 20000)
            statuses = []
            for n in range(20):
                answer = one.submit(series=big, subject="hang=build", key=f"k{n}")
                statuses.append(answer.status)
                if answer.status != 202:
                    assert answer.status == 503 and answer.error()["code"] == "disk-full", answer.body
                    assert answer.headers["Retry-After"]
            assert 503 in statuses and statuses[0] == 202, statuses
            assert one.get("/").status == 200 and one.get(API + "/jobs").status == 200
            stored = [job["id"] for job in one.get(API + "/jobs").json()["jobs"]]
            assert len(stored) == statuses.count(202)
            time.sleep(1)
            # room again: what waits is worked on, or can be cancelled
            subprocess.run(["mount", "-o", "remount,size=100m", one.state], check=True)
            for number in stored:
                assert one.call("DELETE", f"{API}/jobs/{number}").status in (200, 202, 409)
            for number in stored:
                assert one.wait(number)["state"] in ("cancelled", "infra-failed")
            assert one.wait(one.new("boots=1"))["state"] == "done"
            one.stop()
        finally:
            if one.process:
                one.process.kill()
                one.process.wait()
            time.sleep(0.5)
            subprocess.run(["umount", "-l", one.state], check=True)
        one.start()


def test_few_descriptors():
    """Out of descriptors it does not answer everybody, but it lives."""
    with lab(connections_max=100) as one:
        resource.prlimit(one.process.pid, resource.RLIMIT_NOFILE, (40, 40))
        crowd = [socket.create_connection(("127.0.0.1", one.port)) for _ in range(60)]
        time.sleep(0.5)
        for s in crowd:
            s.close()
        end = time.monotonic() + 30
        while True:
            try:
                assert one.get("/healthz").status == 200
                break
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.5)


main(globals())
