# SPDX-License-Identifier: GPL-2.0-or-later
# long
"""Mail: from a Maildir to the lab, and its answers to a real SMTP server, once each, whatever is killed."""

import contextlib
import email
import email.policy
import os
import re
import signal
import socketserver
import subprocess
import threading

from lab import API, BUILD, lab, main, mbox

ADDRESS = "lab@regrlab.example.org"
CONFIG = f"""[mail]
address={ADDRESS}
lists=linux-mm.example.org
senders=ann@example.org,rita@example.org
authserv_id=mx.regrlab.example.org
benchmarks=aging
"""
SIGNED = "mx.regrlab.example.org; dkim=pass header.d=example.org"


def message(text, mid, sender="rita@example.org", subject="Re: [PATCH] x", reply=None, to="ann@example.org", cc=f"linux-mm@example.org, {ADDRESS}",
            auth=SIGNED, extra=""):
    thread = f"In-Reply-To: <{reply}>\nReferences: <{reply}>\n" if reply else ""
    return (f"Authentication-Results: {auth}\nFrom: Somebody <{sender}>\nTo: {to}\nCc: {cc}\nSubject: {subject}\n"
            f"Message-ID: <{mid}>\n{thread}List-Id: <linux-mm.example.org>\n{extra}Content-Type: text/plain; charset=UTF-8\n\n{text}")


def patch(subject, mid, number="", reply=None, **more):
    body = mbox().decode().split("\n\n", 1)[1]
    return message(body, mid, sender=more.pop("sender", "ann@example.org"), to="linux-mm@example.org", cc=more.pop("cc", "rita@example.org"),
                   subject=f"[PATCH{number}] {subject}", reply=reply, **more)


def regrlab(one, *words, text=None, status=0):
    done = subprocess.run([BUILD / "regrlab", "mail", *map(str, words)], input=text, capture_output=True, text=True, timeout=60,
                          env={**os.environ, "REGRLAB_SERVER": f"http://127.0.0.1:{one.port}"})
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


class Server(socketserver.ThreadingTCPServer):
    """A small SMTP server: keeps what it takes. at: the command at which it calls trouble(), whose answer it gives."""
    allow_reuse_address = daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Session)
        self.taken, self.at, self.trouble = [], None, None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"smtp://127.0.0.1:{self.server_address[1]}"


class Session(socketserver.StreamRequestHandler):
    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self):
        with contextlib.suppress(ConnectionError):
            self.talk()

    def talk(self):
        recipients = []
        self.say("220 mx.example.org")
        while line := self.rfile.readline():
            word = line.split()[0].upper().decode()
            if word == self.server.at:
                self.say(self.server.trouble() or "451 not now")
            elif word == "RCPT":
                recipients.append(re.search(rb"<(.*)>", line)[1].decode())
                self.say("250 ok")
            elif word == "DATA":
                self.say("354 go on")
                data = b""
                while not data.endswith(b"\r\n.\r\n"):
                    data += self.rfile.readline()
                self.server.taken.append((recipients, email.message_from_bytes(data[:-5], policy=email.policy.default), data))
                if self.server.at == "END":
                    self.server.trouble()
                self.say("250 taken")
            elif word == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 ok")


@contextlib.contextmanager
def mailing(extra="", **options):
    with lab(extra=CONFIG + extra, **options) as one, Server() as server:
        yield one, server
        server.shutdown()


def mails(one, way, state=""):
    return one.get(f"{API}/mail/{way}" + (f"?state={state}" if state else "")).json()["mails"]


def receive(one, text, status=0):
    return regrlab(one, "receive", text=text, status=status)


def send(one, server, status=0):
    return regrlab(one, "send", "--smtp", server.url, status=status)


def jobs(one):
    return one.get(f"{API}/jobs").json()["jobs"]


def check_form(mail, answered, root):
    """What every mail of the lab is like."""
    text = mail.get_content()
    assert mail["In-Reply-To"] == f"<{answered}>" and mail["References"].split()[-1] == f"<{answered}>"
    assert mail["References"].split()[0] == f"<{root}>" and mail["Subject"].startswith("Re: ") and not mail["Subject"].startswith("Re: Re:")
    assert mail["Auto-Submitted"] == "auto-replied" and mail["X-Regrlab"] and mail["Message-ID"].endswith("@regrlab.example.org>")
    assert mail.get_content_type() == "text/plain" and mail.get_content_charset() == "utf-8"
    assert not any(line.startswith("#regrlab") for line in text.splitlines()), text
    return text


def test_from_a_maildir_into_the_thread():
    with mailing() as (one, server):
        maildir = one.dir / "Maildir"
        for folder in ("new", "cur", "tmp"):
            (maildir / folder).mkdir(parents=True)
        (maildir / "new/1").write_text(patch("mm: slower boots=4 verdict=REGRESSION", "p1@example.org"))
        (maildir / "new/2").write_text(message("Just talk.\n", "t1@example.org", reply="p1@example.org"))
        said = regrlab(one, "watch", "--once", maildir)
        assert "series, is new" in said and "ignored: a reply" in said, said
        assert sorted(os.listdir(maildir / "cur")) == ["1:2,S", "2:2,S"] and not os.listdir(maildir / "new")
        assert len(jobs(one)) == 1, "what is posted on a watched list is tested"
        one.wait(1)
        (maildir / "new/3").write_text(message("Is it slower?\n\n#regrlab test: linux v6.12 boots=10\n", "c1@example.org", reply="p1@example.org"))
        regrlab(one, "watch", "--once", maildir)
        one.wait(2)
        job = one.job(2)["spec"]
        assert (job["tree"], job["base"], job["benchmarks"], job["max_boots"]) == ("linux", "v6.12", ["aging"], 10), job
        send(one, server)
        # the acknowledgement goes to who asked; both reports name a regression and wait for a moderator
        assert [recipients for recipients, _, _ in server.taken] == [["rita@example.org"]], server.taken
        text = check_form(server.taken[0][1], "c1@example.org", "p1@example.org")
        for words in ("> #regrlab test: linux v6.12 boots=10", "mm: slower", "v6.12 (as you asked)", "aging", "would see", "done in",
                      f"http://127.0.0.1:{one.port}/jobs/2", "  #regrlab cancel"):
            assert words in text, (words, text)
        assert max(map(len, text.splitlines())) <= 72, text
        held = mails(one, "out", "held")
        assert len(held) == 2 and all("linux-mm@example.org" in mail["recipients"] for mail in held), held
        pending = regrlab(one, "pending")
        assert pending.count("out ") == 2 and "Re: [PATCH] mm: slower" in pending, pending
        second = next(mail["id"] for mail in held if mail["recipients"].startswith("rita"))
        regrlab(one, "pending", "approve", "out", second)
        regrlab(one, "pending", "refuse", "out", next(mail["id"] for mail in held if mail["id"] != second))
        send(one, server)
        recipients, mail, _ = server.taken[1]
        assert recipients == ["rita@example.org", "ann@example.org", "linux-mm@example.org"], recipients
        text = check_form(mail, "c1@example.org", "p1@example.org")
        report = one.get(f"{API}/jobs/2/report.txt").body.decode()
        assert text.replace("\r", "").startswith(report), "the report and the mail come from one renderer"
        assert "Tested-by" not in text and "Reported-by" not in text and "  #regrlab no-mail" in text
        send(one, server)
        assert len(server.taken) == 2 and len(mails(one, "out", "sent")) == 2


def test_all_clear_is_for_who_asked():
    with mailing("moderate=yes\n") as (one, server):
        receive(one, patch("mm: same boots=4 verdict=EQUIVALENT", "p1@example.org"))
        one.wait(1)
        send(one, server)
        assert [recipients for recipients, _, _ in server.taken] == [["ann@example.org"]], server.taken


def test_series_in_any_order():
    with mailing() as (one, server):
        part = {n: patch(f"mm: part {n}", f"p{n}@example.org", f" {n}/3", reply="p0@example.org") for n in (1, 2, 3)}
        cover = message("All three.\n", "p0@example.org", sender="ann@example.org", to="linux-mm@example.org", cc="rita@example.org",
                        subject="[PATCH 0/3] mm: three")
        ask = message("#regrlab test\n", "c1@example.org", reply="p0@example.org")
        for text in (part[3], ask, cover, part[1]):
            receive(one, text)
        reasons = [mail["reason"] for mail in mails(one, "in", "waiting")]
        assert not jobs(one) and len(reasons) == 3 and all("part 2/3 is missing" in reason or "1/3" in reason for reason in reasons), reasons
        receive(one, part[2])
        receive(one, part[2])
        assert len(jobs(one)) == 2, "one that was posted, one that was asked for"
        assert not mails(one, "in", "waiting") and not mails(one, "in", "new")
        assert [job["subject"] for job in jobs(one)] in (["mm: three"] * 2, ["mm: part 1"] * 2), jobs(one)
        for job in (1, 2):
            one.wait(job)
        send(one, server)
        assert sorted(mail["about"] for mail in mails(one, "out")) == ["answer of mail 2", "report of mail 2", "report of mail 3"]


def test_who_may():
    with mailing("per_day=2\n") as (one, server):
        receive(one, patch("mm: x", "p1@example.org", auth="mx.elsewhere.example.org; dkim=pass header.d=example.org"))
        assert not jobs(one), "nobody says who posted it"
        ask = "#regrlab test: linux\n"
        assert "is held: its sender is not proven" in receive(one, message(ask, "c1@example.org", reply="p1@example.org", auth="none"))
        assert "is held: its sender is not known" in receive(one, message(ask, "c2@example.org", sender="sam@example.org", reply="p1@example.org"))
        assert not jobs(one) and not mails(one, "out")
        assert regrlab(one, "pending").count("in ") == 2
        regrlab(one, "pending", "approve", "in", mails(one, "in", "held")[1]["id"])
        send(one, server)
        assert len(jobs(one)) == 1 and server.taken[0][0] == ["sam@example.org"]
        # two a day, and the one that was held is one
        assert "is new" in receive(one, message(ask, "c3@example.org", reply="p1@example.org"))
        assert "is refused: its sender has asked 2 times" in receive(one, message(ask, "c4@example.org", reply="p1@example.org"))
        assert len(jobs(one)) == 2


def test_no_more_mail():
    with mailing() as (one, server):
        receive(one, patch("mm: x boots=4 verdict=REGRESSION", "p1@example.org"))
        receive(one, message("#regrlab no-mail\n", "n1@example.org", reply="p1@example.org"))
        receive(one, message("#regrlab no-mail list\n", "n2@example.org", reply="p1@example.org"))
        assert [mail["reason"] for mail in mails(one, "in", "held")] == ["it asks that the whole list gets no mail"]
        assert one.get(f"{API}/mail").json()["refusals"] == ["rita@example.org"]
        one.wait(1)
        send(one, server)
        held = mails(one, "out", "held")
        assert [mail["recipients"] for mail in held] == ["ann@example.org linux-mm@example.org"], held
        receive(one, message("#regrlab what\n", "c1@example.org", reply="p1@example.org"))
        send(one, server)
        assert not server.taken and mails(one, "out", "dropped")[0]["said"] == "nobody wants it"


def test_what_is_not_understood_is_answered_once():
    with mailing() as (one, server):
        for _ in range(2):
            receive(one, message("#regrlab please\n", "c1@example.org", reply="p1@example.org"))
            receive(one, message("#regrlab bisect: v6.11 v6.12 pwrite\n", "c2@example.org", reply="p1@example.org"))
            receive(one, message("#regrlab more 7\n", "c3@example.org", reply="p1@example.org"))
            receive(one, message("#regrlab test: nowhere\n\n" + mbox().decode().split("---\n", 1)[1], "c4@example.org", reply="p1@example.org"))
            send(one, server)
        texts = [check_form(mail, mail["In-Reply-To"][1:-1], "p1@example.org") for _, mail, _ in server.taken]
        assert len(texts) == 4 and "'please' is no command" in texts[0] and "  #regrlab test: [TREE]" in texts[0]
        assert "no bisections" in texts[1] and "no such job that you asked for" in texts[2] and "no tree 'nowhere'" in texts[3], texts
        assert not jobs(one)


def test_commands_about_jobs():
    with mailing() as (one, server):
        receive(one, patch("mm: x hang=build", "p1@example.org"))
        receive(one, message("#regrlab test\n", "c1@example.org", reply="p1@example.org"))
        receive(one, message("#regrlab cancel 1\n", "c2@example.org", reply="p1@example.org"))
        receive(one, message("#regrlab cancel\n", "c3@example.org", reply="p1@example.org"))
        assert one.wait(2)["state"] == "cancelled" and one.job(1)["state"] != "cancelled", "1 is Ann's"
        send(one, server)
        texts = [mail.get_content() for _, mail, _ in server.taken]
        assert len(texts) == 3 and "no such job" in texts[1] and "Job 2 is cancelled" in texts[2], texts


def test_more():
    with mailing() as (one, server):
        receive(one, patch("mm: x boots=4 verdict=INCONCLUSIVE", "p1@example.org"))
        one.wait(1)
        send(one, server)
        assert "  #regrlab more boots=10" in server.taken[0][1].get_content()
        receive(one, message("#regrlab more boots=3\n", "c1@example.org", sender="ann@example.org", reply="p1@example.org"))
        one.wait(1)
        send(one, server)
        texts = [mail.get_content() for _, mail, _ in server.taken]
        assert len(texts) == 3 and "3 more boots" in texts[1] and "a fake continuation" in texts[2], texts


def test_a_loop_ends_at_once():
    with mailing() as (one, server):
        receive(one, message("#regrlab what\n", "c1@example.org", reply="p1@example.org"))
        send(one, server)
        data = server.taken[0][2].decode().replace("\r\n", "\n")
        # another bot sends it back as it is, answers with all of it and no marks, or from its own lab
        assert "ignored: a lab wrote it" in receive(one, data)
        text = server.taken[0][1].get_content()
        assert "ignored" in receive(one, message(text, "r1@example.org", reply="c1@example.org"))
        assert "ignored" in receive(one, message("#regrlab test\n", "r2@example.org", extra="Auto-Submitted: auto-replied\n"))
        assert "ignored" in receive(one, message("#regrlab test\n", "r3@example.org", extra="X-Regrlab: elsewhere\n"))
        send(one, server)
        assert len(server.taken) == 1 and len(mails(one, "out")) == 1


def test_stop():
    with mailing() as (one, server):
        receive(one, message("#regrlab what\n", "c1@example.org", reply="p1@example.org"))
        regrlab(one, "stop")
        send(one, server)
        assert not server.taken and "no mail is taken in" in receive(one, message("#regrlab what\n", "c2@example.org"), status=75)
        regrlab(one, "resume")
        receive(one, message("#regrlab what\n", "c2@example.org"))
        send(one, server)
        assert len(server.taken) == 2


def test_what_the_server_says():
    with mailing() as (one, server):
        for number, (at, said, state) in enumerate((("MAIL", "451 not now", "queued"), ("MAIL", "550 never", "failed"))):
            receive(one, message("#regrlab what\n", f"c{number}@example.org", reply="p1@example.org"))
            server.at, server.trouble = at, lambda said=said: said
            send(one, server)
            mail = mails(one, "out")[0]
            assert (mail["state"], mail["attempts"], mail["said"]) == (state, 1, said), mail
        # it waits before it tries again
        server.at = None
        send(one, server)
        assert not server.taken
        receive(one, message("#regrlab what\n", "c9@example.org", reply="p1@example.org"))
        regrlab(one, "send", "--smtp", "smtp://127.0.0.1:1")
        assert (mails(one, "out")[0]["state"], mails(one, "out")[0]["attempts"]) == ("queued", 1)


def test_sendmail_and_files():
    with mailing() as (one, server):
        program, out = one.dir / "sendmail", one.dir / "out"
        receive(one, message("#regrlab what\n", "c1@example.org", reply="p1@example.org"))
        out.mkdir()
        regrlab(one, "send", "--dry-run", out)
        (file,) = out.iterdir()
        assert email.message_from_bytes(file.read_bytes())["To"] == "rita@example.org" and mails(one, "out")[0]["state"] == "queued"
        for status, state in ((75, "queued"), (1, "failed"), (0, "sent")):
            receive(one, message("#regrlab what\n", f"s{status}@example.org", reply="p1@example.org"))
            program.write_text(f"#!/bin/sh\necho \"$@\" >>{one.dir}/argv\ncat >>{one.dir}/mails\nexit {status}\n")
            program.chmod(0o755)
            regrlab(one, "send", "--sendmail", program)
            assert mails(one, "out")[0]["state"] == state
        assert (one.dir / "argv").read_text().splitlines()[0] == f"-i -f {ADDRESS} -- rita@example.org"
        assert "say how" in regrlab(one, "send", status=2)


def test_killed_between_any_two_steps():
    """The one who sends dies when the server has the mail, or while it has half of it; the lab dies with what it knows."""
    with mailing() as (one, server):
        receive(one, patch("mm: x hang=build", "p1@example.org"))
        for number, at in enumerate(("MAIL", "RCPT", "DATA", "END")):
            receive(one, message("#regrlab test\n", f"c{number}@example.org", reply="p1@example.org"))
            before = len(server.taken)
            process = subprocess.Popen([BUILD / "regrlab", "mail", "send", "--smtp", server.url],
                                       env={**os.environ, "REGRLAB_SERVER": f"http://127.0.0.1:{one.port}"})
            server.at, server.trouble = at, process.kill
            assert process.wait(20) == -signal.SIGKILL
            server.at = None
            one.process.kill()
            one.process.wait()
            one.start()
            send(one, server)
            assert mails(one, "out")[0]["state"] == "sending" and len(server.taken) == before + (at == "END"), at
            assert len(jobs(one)) == 2 + number
        ids = [mail["Message-ID"] for _, mail, _ in server.taken]
        assert len(ids) == len(set(ids)) == 1


def test_only_the_bot():
    with mailing() as (one, _):
        with open(one.dir / "token", "w") as out:
            subprocess.run([BUILD / "regrlabd", "--config", one.config, "--new-admin-token"], stdout=out, check=True)
        admin = {"Authorization": "Bearer " + (one.dir / "token").read_text().strip(), "Content-Type": "application/json"}
        made = one.call("POST", f"{API}/tokens", '{"name": "x", "role": "submit"}', admin).json()
        other = {"Authorization": "Bearer " + made["token"]}
        for method, path in (("GET", "mail"), ("GET", "mail/in"), ("GET", "mail/out"), ("POST", "mail/stop"), ("POST", "mail/out/claim")):
            assert one.call(method, f"{API}/{path}", headers=other).error()["code"] == "not-the-bot", path
        assert one.call("GET", f"{API}/mail", headers=admin).status == 200
    with lab() as one:
        assert one.get(f"{API}/mail").error()["code"] == "mail-off"


if __name__ == "__main__":
    main(globals())
