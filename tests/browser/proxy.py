"""A reverse proxy: a server of its own, which passes on what lies below a path."""

from __future__ import annotations

import copy
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.browser.servers import Server

PREFIX = "/team/profiles"
_NOT_PASSED_ON = {"connection", "transfer-encoding", "content-length", "date", "server"}


@contextmanager
def behind_a_proxy(server: Server) -> Iterator[Server]:
    """The same server below another address, of which it knows nothing."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith(f"{PREFIX}/"):
                self.send_error(404)
                return
            asked = urllib.request.Request(server.address + self.path.removeprefix(f"{PREFIX}/"))
            for name in ("Accept", "Accept-Encoding", "If-None-Match"):
                if name in self.headers:
                    asked.add_header(name, self.headers[name])
            try:
                answer = urllib.request.urlopen(asked, timeout=60)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                body = answer.read()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    if name.lower() not in _NOT_PASSED_ON:
                        self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.daemon_threads = True
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    try:
        seen = copy.copy(server)
        address = f"http://127.0.0.1:{proxy.server_port}{PREFIX}/"
        seen.address, seen.root = address, address + server.root.removeprefix(server.address)
        yield seen
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()
