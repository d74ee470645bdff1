"""The server behind `make serve` and the site's tests: packed text, open connections, 404 page."""

import gzip
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from site_server import served

PAGE = "<p>query, key and value</p>" * 40


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "index.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "face.woff2").write_bytes(bytes(range(256)) * 4)
    return tmp_path


@pytest.fixture
def ask(folder):
    """A function that asks over one connection; the answer's status, headers and bytes."""
    with served(folder) as address:
        connection = HTTPConnection(urlsplit(address).netloc, timeout=10)

        def ask(path, method="GET", takes="gzip"):
            connection.request(method, path, headers={"Accept-Encoding": takes})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

        yield ask
        connection.close()


def test_text_is_packed_where_the_browser_takes_it(ask):
    for path in ("/part/", "/part/index.html", "/part/index.html?v=3"):
        status, headers, body = ask(path)
        assert (status, headers["Content-Encoding"]) == (200, "gzip")
        assert len(body) < len(PAGE) / 5
        assert gzip.decompress(body).decode() == PAGE
    _, headers, body = ask("/part/", takes="identity")
    assert headers["Content-Encoding"] is None
    assert body.decode() == PAGE


def test_what_is_packed_already_stays_as_it_is(ask):
    _, headers, body = ask("/face.woff2")
    assert headers["Content-Encoding"] is None
    assert headers["Content-Type"] == "font/woff2"
    assert body == bytes(range(256)) * 4


def test_a_question_for_the_head_gets_no_body_and_the_connection_stays(ask):
    status, headers, body = ask("/part/", method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) > 0
    assert ask("/part/")[0] == 200


def test_a_changed_file_is_served_anew(ask, folder):
    ask("/part/")
    (folder / "part" / "index.html").write_text("another", encoding="utf-8")
    assert gzip.decompress(ask("/part/")[2]) == b"another"


def test_what_is_missing_has_its_page(ask, folder):
    assert ask("/nowhere.html")[0] == 404
    (folder / "404.html").write_text("No such page", encoding="utf-8")
    status, headers, body = ask("/nowhere.html")
    assert (status, headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert body == b"No such page"
    assert ask("/part/")[0] == 200
