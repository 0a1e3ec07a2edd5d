"""The server by HTTP: the pages it serves, the requests it rejects, and the end of slow requests."""

import http.client
import itertools
import json
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from threading import Thread
from unittest.mock import patch

import pytest
from hostile_requests import QUESTION, headers_of, hostile, request

from matcalc.page import server as server_module
from matcalc.page.pool import Pool
from matcalc.page.server import Server

MONSTER = {"topic": "derive", "formula": f"tr({'*'.join(['(A + B)'] * 40)})", "wrt": "A", "how": "hessian"}


class Listening:
    """A stand-in for the pool that records its requests."""

    def __init__(self):
        self.asked = []

    def ask(self, question, is_gone):
        self.asked.append(question)
        return {}

    def close(self):
        pass


def serving(pool):
    server = Server(0, pool)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return server


@pytest.fixture(scope="module")
def quiet():
    server = serving(Listening())
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def answering():
    server = serving(Pool(1, seconds=3))
    yield server
    server.shutdown()
    server.server_close()


def sent(server, data):
    """Return the status of the answer and all of it; 0 where the connection closes without one."""
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=20)) as line:
        try:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: line.recv(65536), b""))
        except OSError:
            return 0, b""
    head = answer.split(b" ", 2)
    return (int(head[1]) if answer.startswith(b"HTTP/") else 0), answer


def asked(server, question):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    with closing(line):
        line.request("POST", "/ask", json.dumps(question), headers_of(server))
        answer = line.getresponse()
        return answer.status, json.loads(answer.read())


# ---- pages served


def get(server, path, host=None):
    status, answer = sent(server, request("GET", path, {"Host": host or f"127.0.0.1:{server.port}"}))
    head, _, body = answer.partition(b"\r\n\r\n")
    return status, head.decode().lower(), body


def test_the_page_and_what_it_names_are_served(quiet):
    status, head, body = get(quiet, "/")
    assert status == 200 and b"<title>matcalc" in body
    for policy in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"):
        assert policy in head
    assert "unsafe" not in head and "*" not in head.partition("content-security-policy")[2].partition("\r\n")[0]
    assert "x-content-type-options: nosniff" in head and "access-control" not in head
    for path in quiet.files:
        status, head, body = get(quiet, path)
        assert status == 200 and body and "default-src 'none'" in head
    assert get(quiet, "/", f"localhost:{quiet.port}")[0] == 200


def test_nothing_is_loaded_from_elsewhere(quiet):
    for path, (contents, kind) in quiet.files.items():
        if kind.startswith(("text/html", "text/css")) or (path.endswith(".js") and "katex" not in path):
            text = contents.decode()
            assert "//cdn" not in text and "https://" not in text and "innerHTML" not in text, path
            assert "eval(" not in text and " style=" not in text and "onclick=" not in text, path


def test_it_listens_on_this_machine_alone(quiet):
    assert quiet.server_address[0] == "127.0.0.1"


def test_the_token_is_in_the_fragment_alone(quiet):
    assert quiet.address == f"http://127.0.0.1:{quiet.port}/#token={quiet.token}"
    assert len(quiet.token) >= 32
    assert all(quiet.token.encode() not in contents for contents, _ in quiet.files.values())


def test_what_the_page_sends_is_asked(quiet):
    status, _ = asked(quiet, QUESTION)
    assert status == 200 and json.loads(quiet.pool.asked.pop()) == QUESTION


def test_a_key_is_good_for_one_entry(quiet):
    server = serving(Listening())
    try:
        once = server.once
        assert server.entrance.endswith(f"#once={once}") and server.token not in server.entrance

        def entered(path, key):
            given = {**headers_of(server), "X-Matcalc-Token": key, "Content-Length": "2"}
            return sent(server, request("POST", path, given, b"{}"))

        assert [entered("/enter", key)[0] for key in (server.token, "", "x")] == [401] * 3
        assert entered("/ask", once)[0] == 401
        status, answer = entered("/enter", once)
        assert status == 200 and json.loads(answer.partition(b"\r\n\r\n")[2]) == {"token": server.token}
        assert [entered("/enter", key)[0] for key in (once, "", server.token)] == [401] * 3
    finally:
        server.shutdown()
        server.server_close()


def test_a_link_from_anywhere_opens_the_page_and_asks_nothing(quiet):
    here = {"Host": f"127.0.0.1:{quiet.port}", "Sec-Fetch-Site": "cross-site"}
    followed = {**here, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert sent(quiet, request("GET", "/", followed))[0] == 200
    for other in ({}, {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, {"Sec-Fetch-Dest": "iframe"}):
        assert sent(quiet, request("GET", "/page.js", {**followed, **other} if other else here))[0] == 403
    post = {**headers_of(quiet), **followed, "Content-Length": "2"}
    assert sent(quiet, request("POST", "/ask", post, b"{}"))[0] == 403


# ---- hostile requests


@pytest.mark.whole
def test_no_hostile_request_is_obeyed(quiet):
    quiet.pool.asked.clear()
    requests = list(hostile(quiet))
    assert len(requests) >= 500
    for data in requests:
        status, answer = sent(quiet, data)
        assert status == 0 or status >= 400, (status, data[:300])
        assert not quiet.pool.asked, data[:300]
        for secret in (quiet.token.encode(), b"root:", b"Traceback", b"/matcalc/page"):
            assert secret not in answer, data[:300]
    assert asked(quiet, QUESTION)[0] == 200


def test_the_first_of_each_kind_of_hostile_request_is_not_obeyed(quiet):
    quiet.pool.asked.clear()
    for data in itertools.islice(hostile(quiet), 0, None, 12):
        status, _ = sent(quiet, data)
        assert (status == 0 or status >= 400) and not quiet.pool.asked, (status, data[:300])


def test_too_many_lines_at_once_are_closed(quiet):
    lines = [socket.create_connection(("127.0.0.1", quiet.port), timeout=5) for _ in range(60)]
    time.sleep(0.3)
    for line in lines:
        line.close()
    time.sleep(0.1)
    assert asked(quiet, QUESTION)[0] == 200


# ---- the processes that compute answers


@pytest.mark.whole
@pytest.mark.whole
@pytest.mark.parametrize("part", ["line", "headers", "body"])
def test_a_request_that_comes_slowly_is_ended(quiet, monkeypatch, part):
    """Sending a line now and then does not extend the time: the limit is for the whole request."""
    monkeypatch.setattr("matcalc.page.server.PATIENCE", 1.0)
    first, more = {
        "line": (b"GET / HT", b"T"),
        "headers": (b"GET / HTTP/1.1\r\n", b"X-More: 1\r\n"),
        "body": (head_of_question(quiet), b" "),
    }[part]
    with socket.create_connection(("127.0.0.1", quiet.port)) as line:
        line.sendall(first)
        start = time.monotonic()
        with suppress(OSError):
            while time.monotonic() < start + 10:
                line.sendall(more)
                time.sleep(0.2)
        assert time.monotonic() < start + 5
    assert get(quiet, "/")[0] == 200


def head_of_question(server):
    """Return the head of a question that announces a long body."""
    host = f"127.0.0.1:{server.port}"
    lines = ["POST /ask HTTP/1.1", f"Host: {host}", f"Origin: http://{host}", f"X-Matcalc-Token: {server.token}"]
    lines += ["Content-Type: application/json", "Content-Length: 60000", "", ""]
    return "\r\n".join(lines).encode()


@pytest.mark.whole
def test_what_takes_too_long_is_stopped_and_the_next_is_answered(answering):
    status, answer = asked(answering, QUESTION)
    assert status == 200 and answer["blocks"][0]["text"] == "2*X'*(X*w - y)"
    before = answering.pool.workers[0].process.pid
    start = time.perf_counter()
    status, answer = asked(answering, MONSTER)
    assert status == 200 and "longer than 3 seconds" in answer["error"]["message"]
    assert time.perf_counter() - start < 10
    while answering.pool.workers[0:1] == [] or answering.pool.workers[0].process.pid == before:
        time.sleep(0.05)
    assert asked(answering, QUESTION)[1]["blocks"]


@pytest.mark.whole
def test_what_nobody_waits_for_is_ended():
    server = serving(Pool(1, seconds=60))
    try:
        assert asked(server, QUESTION)[0] == 200
        before = server.pool.workers[0]
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        line.request("POST", "/ask", json.dumps(MONSTER), headers_of(server))
        time.sleep(0.3)
        line.close()
        start = time.perf_counter()
        while server.pool.workers[:1] in ([], [before]) and time.perf_counter() - start < 20:
            time.sleep(0.05)
        assert server.pool.workers[0] is not before
        assert "blocks" in asked(server, QUESTION)[1]
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.whole
def test_what_takes_too_much_memory_is_refused(answering):
    answer = asked(answering, {"topic": "graph", "formula": "eye(99999999)*x", "wrt": "x", "how": "jacobian"})[1]
    assert "error" in answer or all(node["value"] is None for node in answer["nodes"])
    assert asked(answering, QUESTION)[1]["blocks"]


@pytest.mark.whole
def test_a_process_that_ends_is_replaced(answering):
    assert asked(answering, QUESTION)[0] == 200
    answering.pool.workers[0].process.kill()
    assert "stopped" in asked(answering, QUESTION)[1]["error"]["message"]
    for _ in range(100):
        if "blocks" in asked(answering, QUESTION)[1]:
            break
        time.sleep(0.1)
    else:
        pytest.fail("no process came back")


# ---- the command


@pytest.mark.whole
@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM])
def test_the_command_says_its_address_serves_and_ends(ended_by):
    if signal.getsignal(ended_by) is signal.SIG_IGN:
        pytest.skip("a process in the background of a shell, and all that it starts, does not hear it")
    command = [sys.executable, "-m", "matcalc", "serve", "--no-open", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip()
            found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#token=(\S+)", address)
            line = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
            here = f"127.0.0.1:{found[1]}"
            headers = {"Origin": f"http://{here}", "X-Matcalc-Token": found[2], "Content-Type": "application/json"}
            line.request("POST", "/ask", json.dumps(QUESTION), headers)
            assert json.loads(line.getresponse().read())["blocks"][0]["text"] == "2*X'*(X*w - y)"
            line.close()
            process.send_signal(ended_by)
            _, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, "")


@pytest.mark.whole
def test_a_port_that_is_taken_is_left(quiet):
    for port in (quiet.port, 99999):
        with patch.object(server_module, "Pool", Listening), closing_server(server_module.bound(port)) as other:
            assert other.port != quiet.port and other.token != quiet.token


@contextmanager
def closing_server(server):
    try:
        yield server
    finally:
        server.server_close()
