"""Requests to the server of the local page, as bytes: valid ones, and 500 that must be rejected."""

import itertools
import json

QUESTION = {"topic": "derive", "formula": "norm2(X*w - y)^2", "wrt": "w"}


def headers_of(server, **more):
    here = f"127.0.0.1:{server.port}"
    fields = {
        "Host": here,
        "Origin": f"http://{here}",
        "X-Matcalc-Token": server.token,
        "Content-Type": "application/json",
    }
    return {**fields, **{name.replace("_", "-"): value for name, value in more.items()}}


def request(method="POST", path="/ask", headers=(), body=b""):
    """Return the bytes of a request; `headers` are pairs, or a mapping in which None leaves one out."""
    pairs = headers.items() if hasattr(headers, "items") else headers
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in pairs if value is not None), "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + body


def hostile(server):
    """Yield requests that must be rejected, first with one fault each, then with several."""
    port, token = server.port, server.token
    body = json.dumps(QUESTION).encode()
    good = {**headers_of(server), "Content-Length": str(len(body))}

    def changed(**fields):
        return request(headers={**good, **{name.replace("_", "-"): value for name, value in fields.items()}}, body=body)

    hosts = [
        None, "", "evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}",
        f"127.0.0.1:{port}.evil.example",
        "127.0.0.1", f"127.0.0.1:{port + 1}", "localhost", f"LOCALHOST.evil:{port}", f"0.0.0.0:{port}", f"[::1]:{port}",
        f"127.1:{port}", f"2130706433:{port}", f"0x7f000001:{port}", f"127.0.0.2:{port}", f"user@127.0.0.1:{port}",
        f"127.0.0.1:{port}@evil.example", f"localhost.:{port}", f"127.0.0.1:0{port}", f"127.0.0.1:{port}, evil.example",
        f"127.0.0.1:{port}/", f"http://127.0.0.1:{port}", f"evil.example#127.0.0.1:{port}", f"127.0.0.1:{port}\x00",
        f"127.0.0.1%00:{port}", "127.0.0.1:99999999", "*", f"*:{port}", f"169.254.169.254:{port}", f"metadata:{port}",
    ]  # fmt: skip
    here = f"127.0.0.1:{port}"
    origins = [
        None, "", "null", "http://evil.example", f"https://{here}", f"http://127.0.0.1:{port + 1}", "http://127.0.0.1",
        f"http://localhost:{port}", f"http://{here}.evil.example", f"http://evil.example/{here}", f"http://{here}/",
        f"http://{here}@evil.example", "file://", "data:", f"chrome-extension://{here}", f"HTTP://{here}",
        f"http:{here}",
        f"http://{here} http://evil.example", f"//{here}", here, f"ws://{here}", f"http://[::1]:{port}", "*",
    ]  # fmt: skip
    tokens = [
        None, "", "token", token[:-1], token + "x", token.swapcase(), token[::-1], f"Bearer {token}", f'"{token}"',
        f"{token},{token}", "null", "undefined", "0", "A" * 32, "é" * 16, "*", token[:16], f"{token}\x00", "x" * 4000,
    ]  # fmt: skip
    kinds = [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    "text/json",
             "application/json2", "json", "application/xml", "*/*", "application/ json"]  # fmt: skip
    lengths = [None, "", "-1", "+5", "1e3", "0x10", "5.0", "٣", "99999999999999999999", "65537", "1, 1", "ten", "1_0"]
    yield from (changed(Host=host) for host in hosts)
    yield from (changed(Origin=origin) for origin in origins)
    yield from (changed(X_Matcalc_Token=value) for value in tokens)
    yield from (changed(Content_Type=kind) for kind in kinds)
    yield from (changed(Content_Length=length) for length in lengths)
    yield from (changed(Sec_Fetch_Site=site) for site in ("cross-site", "same-site", "", "evil"))
    yield from (changed(Transfer_Encoding=how) for how in ("chunked", "gzip", "identity", "chunked, chunked"))
    yield from (changed(Content_Encoding=how) for how in ("gzip", "br", "deflate"))
    for name in ("Host", "Origin", "X-Matcalc-Token", "Content-Length"):  # twice
        yield request(headers=[*good.items(), (name, good[name])], body=body)
        yield request(headers=[(name, "evil"), *good.items()], body=body)
    for place in (f"/ask?token={token}", f"/ask#{token}", f"/{token}", f"/ask;{token}"):
        yield request("POST", place, {**good, "X-Matcalc-Token": None, "Cookie": f"token={token}"}, body)
    for method in (
        "GET",
        "HEAD",
        "PUT",
        "DELETE",
        "PATCH",
        "OPTIONS",
        "TRACE",
        "CONNECT",
        "PROPFIND",
        "post",
        "POST2",
        "*",
    ):
        yield request(method, "/ask", good, body)
    for path in traversals():
        yield request("GET", path, {"Host": here})
        yield request("POST", path, good, body)
    for wrong in bodies():
        yield request(headers={**good, "Content-Length": str(len(wrong))}, body=wrong)
    yield request(headers={**good, "Content-Length": str(len(body) + 50)}, body=body)  # its body ends too early
    yield from (b"", b"\r\n", b"\0" * 100, b"GET /ask\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"A" * 70000)
    yield from (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n")
    yield request(headers=[*good.items(), *((f"X-{k}", "x") for k in range(300))], body=body)
    yield request(headers={**good, "X-Long": "x" * 70000}, body=body)
    some = (hosts[2:8], origins[2:9], tokens[1:9])
    yield from (changed(Host=h, Origin=o, X_Matcalc_Token=t) for h, o, t in itertools.product(*some))


def traversals():
    files = ("etc/passwd", "server.py", "../server.py", "page.py", "index.html")
    ways = (
        "../",
        "..%2f",
        "%2e%2e/",
        "%2e%2e%2f",
        "..\\",
        "..%5c",
        "....//",
        "%252e%252e%252f",
        "..%c0%af",
        "./../",
        "katex/../",
    )
    yield from (f"/{way * depth}{file}" for way in ways for file in files[:3] for depth in (1, 4))
    yield from ("//etc/passwd", "/etc/passwd", "http://evil.example/", "file:///etc/passwd", "/.git/config",
    "/assets/", "/katex/",
                "/katex", "/%00", "/index.html%00.js", "/index.html/", "/INDEX.HTML", "C:\\x", "/~root", "*", "/ask/",
                "/%61sk", "/ask/../ask", "/./ask", "/ASK")  # fmt: skip


def bodies():
    yield from (
        b"",
        b"null",
        b"1",
        b"[]",
        b'"read"',
        b"{",
        b"}",
        b"{}",
        b"NaN",
        b"\xff\xfe",
        b"\0",
        b"[" * 60000,
        b'{"a":' * 9000,
    )
    yield from (
        b"topic=read&formula=x",
        b"<a/>",
        b"import os",
        b'{"topic": "read", "formula": NaN}',
        b"1e999",
        b"9" * 60000,
    )
    for fields in (
        {"topic": "eval"}, {"topic": "__init__"}, {"topic": None}, {"topic": ["read"]}, {"topic": {"read": 1}},
        {"formula": 1},
        {"formula": None}, {"formula": ["x"]}, {"formula": {}}, {"formula": True}, {"formula": "x" * 4001},
        {"wrt": "w" * 201},
        {"how": "__class__"}, {"how": "dot"}, {"how": "explain"}, {"form": "save"}, {"form": "torch"}, {"form": "../c"},
        {"dialect": "python"}, {"dialect": 0}, {"part": "all"}, {"other": 5}, {"declarations": []},
        {"path": "/etc/passwd"},
        {"__class__": "x"}, {"__proto__": "x"}, {"self": "x"}, {"target": "c"}, {"": ""}, {"formula ": "x"},
        {"seconds": "99"},
    ):  # fmt: skip
        yield json.dumps({**QUESTION, **fields}).encode()
