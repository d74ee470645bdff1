"""Serve a folder on localhost as a static host does: python tools/site_server.py _build/html 8000

Text travels packed with gzip where the browser takes it, and connections stay open, so that what
is measured here is what a reader of the published site waits for.
"""

import argparse
import gzip
import threading
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

# Endings of what is text. Fonts, pictures and archives are compressed as they are.
TEXTS = {".html", ".css", ".js", ".mjs", ".json", ".svg", ".txt", ".xml", ".ipynb", ".wasm", ".map"}


@cache
def _packed(path, modified):
    """The bytes of a file, packed; ``modified``, its time in ns, tells one version from another."""
    return gzip.compress(Path(path).read_bytes(), 6)


class Handler(SimpleHTTPRequestHandler):
    """Serves files of one folder; ``404.html`` there stands for what is missing."""

    protocol_version = "HTTP/1.1"
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".ipynb": "application/x-ipynb+json",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".woff2": "font/woff2",
    }

    def log_message(self, *_):
        """Say nothing: a request is no news."""

    def handle(self):
        # A page that is closed early breaks its connections; that is no news either.
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def send_head(self):
        file = Path(self.translate_path(self.path))
        if file.is_dir() and self.path.partition("?")[0].endswith("/"):
            file = file / "index.html"
        takes_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        if file.suffix not in TEXTS or not file.is_file() or not takes_gzip:
            return super().send_head()
        body = _packed(str(file), file.stat().st_mtime_ns)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return BytesIO(body)

    def send_error(self, code, message=None, explain=None):
        page = Path(self.directory) / "404.html"
        if code != 404 or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _server(folder, port):
    return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, directory=str(folder)))


@contextmanager
def served(folder):
    """Serve ``folder`` meanwhile; gives the address, without a final slash."""
    server = _server(folder, 0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def main(arguments=None):
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("port", type=int)
    asked = parser.parse_args(arguments)
    with _server(asked.folder, asked.port) as server:
        print(f"http://localhost:{asked.port}/    (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
