# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages: correct HTML with every link good, whatever strangers write; the form, search, and the feed."""

import re
import urllib.parse
import xml.etree.ElementTree

import html5lib

from lab import API, lab, main, mbox, multipart

EVIL = "</title></h1><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;&#60;"
XHTML = "{http://www.w3.org/1999/xhtml}"
ATOM = "{http://www.w3.org/2005/Atom}"


def parse(answer):
    """The tree of a page; strict: any parse error of the HTML standard is an exception."""
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    return html5lib.HTMLParser(strict=True).parse(answer.body.decode())


def each(tree, name):
    return tree.iter(XHTML + name)


def text_of(tree, name):
    return ["".join(element.itertext()) for element in each(tree, name)]


def check(path, answer):
    """One page; gives the addresses that it names."""
    tree = parse(answer)
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(ids) == len(set(ids)), (path, ids)
    assert len(list(each(tree, "h1"))) == 1 and len(list(each(tree, "main"))) == 1, path
    assert tree.get("lang") == "en" and text_of(tree, "title")[0].strip(), path
    for element in tree.iter():
        assert element.tag not in (XHTML + "iframe", XHTML + "object", XHTML + "embed"), path
        assert not any(name.startswith("on") or name == "style" for name in element.keys()), (path, element.attrib)
        for name in ("for", "aria-labelledby", "aria-describedby"):
            assert all(word in ids for word in element.get(name, "").split()), (path, name, element.attrib)
    for script in each(tree, "script"):
        assert script.get("src", "").startswith("/static/") and not script.text, path
    levels = [int(element.tag[-1]) for element in tree.iter() if re.fullmatch(XHTML + "h[1-6]", str(element.tag))]
    assert all(b <= a + 1 for a, b in zip(levels, levels[1:])), (path, levels)
    named = set(element.get("id") for element in each(tree, "label") if element.get("id"))
    labelled = {label.get("for") for label in each(tree, "label")} | named
    for name in ("input", "select", "textarea"):
        for control in each(tree, name):
            inside = any(control in list(label.iter()) for label in each(tree, "label"))
            assert inside or control.get("id") in labelled, (path, control.attrib)
    addresses = [element.get(name) for element in tree.iter() for name in ("href", "src") if element.get(name) is not None]
    for address in addresses:
        assert urllib.parse.urlsplit(address).scheme in ("", "http", "https"), (path, address)
        assert not address.startswith("#") or address[1:] in ids, (path, address)
    return [address for address in addresses if address.startswith("/")]


def walk(one, start, most=300):
    """Every page that can be reached, each once; gives their paths."""
    waiting, seen, pages = list(start), set(), []
    while waiting:
        path = waiting.pop().split("#")[0]
        if path in seen:
            continue
        seen.add(path)
        assert len(seen) < most
        answer = one.get(path)
        assert answer.status == 200, (path, answer.status, answer.body[:300])
        if answer.headers["Content-Type"].startswith("text/html"):
            pages.append(path)
            waiting += check(path, answer)
    return pages


def hostile(subject=EVIL):
    return mbox().replace(b"Subject: [PATCH] mm: a change", f"Subject: [PATCH] {subject}".encode()).replace(
        b"Ann Author <ann@example.org>", f'"{EVIL[:30].replace(chr(34), "")}" <eve@example.org>'.encode(), 1).replace(
        b"mm/fake.c", b"mm/<script>alert(3)<_script>.c")


def test_every_page():
    with lab(hosts=("local", "second")) as one:
        for subject in (f"boots=1 {EVIL}", f"end=build-failed {EVIL}", f"boots=1 verdict=INCONCLUSIVE turbo=on control=alarm {EVIL}",
                        f"calibrated={'a' * 64} same=1 boots=2"):
            one.wait(one.new(subject, series=hostile(), kind="compare"))
        one.wait(one.new(None, series=hostile()), {"done", "boot-failed"})
        live = one.new(f"hang=build {EVIL}", series=hostile())
        one.new(f"waits {EVIL}", series=hostile())
        one.wait(live, {"building"})
        pages = walk(one, ["/"])
        for path in ("/", "/jobs", "/hosts", "/hosts/local", f"/jobs/{live}", "/jobs/1"):
            assert path in pages, (path, pages)
        # what nothing links to: questions, and answers that are none
        query = urllib.parse.urlencode({"subject": EVIL, "author": EVIL, "commit": EVIL, "tree": EVIL, "benchmark": EVIL})
        for path, status in ((f"/jobs?{query}", 200), ("/jobs?state=ended&verdict=REGRESSION", 200), ("/jobs?limit=1", 200),
                             ("/jobs?state=" + urllib.parse.quote(EVIL), 400), ("/jobs?cursor=x", 400), ("/jobs?verdict=x", 400),
                             ("/jobs?subject=%ff", 400), ("/jobs/999", 404), ("/" + urllib.parse.quote(EVIL), 404),
                             ("/feed.atom?state=x", 400)):
            answer = one.get(path)
            assert answer.status == status, (path, answer.status)
            check(path, answer)
        for path in pages:
            tree = parse(one.get(path))
            kinds = {link.get("type"): link.get("href") for link in each(tree, "link") if link.get("rel") == "alternate"}
            assert kinds["application/atom+xml"] == "/feed.atom"
            assert one.get(kinds["application/json"]).json() is not None, path


def post(one, fields, **headers):
    body, kind = multipart(fields)
    return one.call("POST", "/jobs", body, {"Content-Type": kind, "Origin": f"http://127.0.0.1:{one.port}", **headers})


def form_of(one):
    """The form as a browser would send it without a touch: (name, value)."""
    form = next(form for form in each(parse(one.get("/")), "form") if form.get("method") == "post")
    fields = []
    for element in form.iter():
        name = element.get("name")
        if element.tag == XHTML + "select":
            fields.append((name, next(each(element, "option")).get("value")))
        elif element.tag == XHTML + "input" and element.get("type") == "checkbox":
            fields += [(name, element.get("value"))] if element.get("checked") else []
        elif element.tag == XHTML + "input" and element.get("type") == "file":
            fields.append((name, ("", b"")))
        elif name:
            fields.append((name, element.get("value") or ""))
    assert form.get("action") == "/jobs" and form.get("enctype") == "multipart/form-data"
    return fields


def test_form():
    with lab() as one:
        fields = form_of(one)
        empty = post(one, fields)
        assert empty.status == 422 and "series: needs a patch series" in "".join(parse(empty).itertext()), empty.body
        filled = {"upload": [("series", ("x.mbox", mbox("mm: uploaded")))],
                  "paste": [("series_text", mbox("mm: pasted").replace(b"\n", b"\r\n"))],
                  "head": [("head", "my-topic"), ("base", "v6.12"), ("benchmarks", "pwrite")]}
        for way, values in filled.items():
            names = {name for name, _ in values} - {"benchmarks"}
            answer = post(one, [field for field in fields if field[0] not in names] + values)
            assert answer.status == 303 and answer.body == b"", (way, answer.status, answer.body)
            number = int(answer.headers["Location"].split("/")[-1])
            assert one.get(answer.headers["Location"]).status == 200
            job = one.job(number)
            assert job["spec"]["subject"] == {"upload": "mm: uploaded", "paste": "mm: pasted", "head": "my-topic"}[way]
            assert job["spec"]["benchmarks"] == (["aging", "pwrite"] if way == "head" else ["aging"])
            assert job["spec"]["clock"] == "auto" and job["spec"]["max_boots"] == 10
            if way != "head":  # the bytes that git will see
                one.wait(number)
                assert (one.state / f"jobs/{number}/series.mbox").read_bytes() == mbox(job["spec"]["subject"])
        # what no form of this page sends
        for answer, status in ((post(one, fields, Origin="https://elsewhere.example.org"), 403),
                               (one.call("POST", "/jobs", b"series_text=x", {"Content-Type": "application/x-www-form-urlencoded"}), 415),
                               (one.call("POST", "/jobs", mbox(), {"Content-Type": "text/plain"}), 400),
                               (post(one, fields + [("nosuch", EVIL)]), 422), (post(one, fields + [("head", "a b")]), 422)):
            assert answer.status == status, (answer.status, answer.body)
            check("/jobs", answer)
        assert len(one.get(API + "/jobs").json()["jobs"]) == 3


def test_waiting():
    with lab() as one:
        first = one.new("hang=build")
        one.wait(first, {"building"})
        second, third = one.new("mm: second"), one.new("mm: third")
        rows = {row.strip() for row in text_of(parse(one.get("/")), "tr")}
        assert any(f"job {first} is being built, and one is at a time" in row for row in rows if row.startswith(str(second))), rows
        assert any("1 go before it" in row for row in rows if row.startswith(str(third))), rows
        one.call("DELETE", f"{API}/jobs/{first}")
        one.wait(third)


def test_search():
    with lab() as one:
        numbers = [one.new(f"boots=1 verdict={verdict} mm/part{n}: one") for n, verdict in
                   enumerate(("REGRESSION", "EQUIVALENT", "IMPROVEMENT"))]
        for number in numbers:
            one.wait(number)

        def found(query):
            links = [a.get("href") for a in each(next(each(parse(one.get(f"/jobs?{query}")), "main")), "a")]
            return [int(link.split("/")[-1]) for link in links if re.fullmatch(r"/jobs/\d+", link)]

        newest = numbers[::-1]
        assert found("") == found("subject=&author=&commit=&tree=&benchmark=&verdict=&state=") == newest
        assert found("subject=part1") == found("verdict=EQUIVALENT") == [numbers[1]]
        assert found("subject=mm%20one&author=ann&tree=linux&benchmark=aging&state=done&commit=bbbb") == newest
        assert found("subject=two") == found("verdict=INVALID") == found("state=live") == []
        page = parse(one.get("/jobs?limit=2&subject=mm"))
        older = next(a.get("href") for a in each(page, "a") if a.get("rel") == "next")
        assert found(older.split("?")[1]) == [numbers[0]]


def test_feed():
    """RFC 4287: what a feed and an entry must have."""
    with lab() as one:
        numbers = [one.new(subject, series=hostile()) for subject in (f"boots=1 {EVIL}", "end=build-failed", "end=infra-failed")]
        empty = xml.etree.ElementTree.fromstring(one.get("/feed.atom?subject=nosuch").body)
        assert not empty.findall(ATOM + "entry")
        for number in numbers:
            one.wait(number)
        answer = one.get("/feed.atom")
        assert answer.headers["Content-Type"].startswith("application/atom+xml")
        feed = xml.etree.ElementTree.fromstring(answer.body)
        assert feed.tag == ATOM + "feed"
        entries = feed.findall(ATOM + "entry")
        assert sorted(int(entry.find(ATOM + "id").text.split("/")[-1]) for entry in entries) == numbers[:2]
        for element in [feed, *entries]:
            for name in ("id", "title", "updated"):
                assert len(element.findall(ATOM + name)) == 1 and element.find(ATOM + name).text.strip(), (element.tag, name)
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", element.find(ATOM + "updated").text)
        for entry in entries:
            assert entry.find(ATOM + "author").find(ATOM + "name").text and entry.find(ATOM + "summary").text
            assert entry.find(ATOM + "link").get("href") == entry.find(ATOM + "id").text
        assert feed.find(ATOM + "link").get("rel") == "self" and feed.find(ATOM + "updated").text == max(
            entry.find(ATOM + "updated").text for entry in entries)
        again = one.get("/feed.atom", **{"If-None-Match": answer.headers["ETag"]})
        assert again.status == 304
        worse = xml.etree.ElementTree.fromstring(one.get("/feed.atom?verdict=REGRESSION&tree=linux").body)
        assert len(worse.findall(ATOM + "entry")) == 1


main(globals())
