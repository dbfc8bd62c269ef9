"""Firefox, driven by WebDriver BiDi: just enough to open pages, press keys and look.

Playwright drives Firefox in a build of its own only, or from a version on that Debian does not have. Since version 129
Firefox speaks this protocol by itself: JSON over a WebSocket (https://w3c.github.io/webdriver-bidi/).
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SECONDS = 40.0
"""For what a page has to do, on a busy machine, too."""
KEYS = {
    "ArrowDown": "\ue015",
    "ArrowRight": "\ue014",
    "Backspace": "\ue003",
    "Control": "\ue009",
    "Delete": "\ue017",
    "End": "\ue010",
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Shift": "\ue008",
}
PREFERENCES = {
    "app.normandy.enabled": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "intl.accept_languages": "en-US",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.server": "https://%(server)s/dummy/telemetry/",
}


def executable() -> str | None:
    """FIREFOX=PATH decides it."""
    return os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")


class WebSocket:
    """Text messages over a socket of this machine."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._socket = socket.create_connection((address.hostname, address.port), timeout=SECONDS)
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self._stream = self._socket.makefile("rb")
        status = self._stream.readline()
        if b" 101 " not in status:
            raise ConnectionError(status.decode())
        while self._stream.readline().strip():
            pass

    def send(self, text: str) -> None:
        data = text.encode()
        length = len(data)
        if length < 126:
            head = struct.pack(">BB", 0x81, 0x80 | length)
        elif length < 2**16:
            head = struct.pack(">BBH", 0x81, 0x80 | 126, length)
        else:
            head = struct.pack(">BBQ", 0x81, 0x80 | 127, length)
        # Clients must mask what they send, and not with zeros.
        mask = os.urandom(3) + b"\x01"
        self._socket.sendall(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))

    def receive(self) -> str:
        """The next message; pieces of one are put together, and control frames passed over."""
        message = b""
        while True:
            first, second = self._stream.read(2)
            length = second & 127
            if length == 126:
                (length,) = struct.unpack(">H", self._stream.read(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self._stream.read(8))
            data = self._stream.read(length)
            if first & 0x0F <= 2:
                message += data
                if first & 0x80:
                    return message.decode()

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


class Firefox:
    """One window with one tab.

    errors: uncaught errors, and violations of a content security policy
    requests: every address asked for
    """

    def __init__(self, path: str, profile: Path) -> None:
        profile.mkdir()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
        (profile / "user.js").write_text("\n".join(lines))
        command = [path, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", str(profile)]
        environment = {**os.environ, "HOME": str(profile), "MOZ_HEADLESS_WIDTH": "1440", "MOZ_HEADLESS_HEIGHT": "900"}
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self._last = 0
        self.errors: list[str] = []
        self.requests: list[str] = []
        try:
            self._socket = WebSocket(self._address() + "/session")
            session = self._call("session.new", capabilities={})
            self.version: str = session["capabilities"]["browserVersion"]
            self._call("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
            self.tab: str = self._call("browsingContext.getTree")["contexts"][0]["context"]
            self._call("browsingContext.setViewport", context=self.tab, viewport={"width": 1440, "height": 900})
        except BaseException:
            self._process.kill()
            raise

    def _address(self) -> str:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            found = re.search(rb"WebDriver BiDi listening on (ws://\S+)", line)
            if found:
                return found[1].decode()
        raise RuntimeError("Firefox does not listen")

    def _call(self, method: str, **params: Any) -> Any:
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.receive())
            if message["type"] == "event":
                self._note(message["method"], message["params"])
            elif message["id"] == self._last:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]

    def _note(self, event: str, params: Any) -> None:
        if event == "network.beforeRequestSent":
            self.requests.append(params["request"]["url"])
        elif params["level"] == "error" and (
            params["type"] == "javascript" or "Content-Security-Policy" in (params["text"] or "")
        ):
            self.errors.append(params["text"])

    def close(self) -> None:
        try:
            self._call("browser.close")
            self._socket.close()
            self._process.wait(20)
        finally:
            self._process.kill()
            self._process.wait(20)

    def open(self, url: str) -> None:
        """Also when only what follows the # differs, which alone would load nothing."""
        for address in ("about:blank", url):
            self._call("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def back(self) -> None:
        self._call("browsingContext.traverseHistory", context=self.tab, delta=-1)

    @property
    def frame(self) -> str:
        """The innermost frame: the plugin's in TensorBoard, else the page itself."""

        def frames() -> list[Any]:
            tree = self._call("browsingContext.getTree", root=self.tab)["contexts"][0]
            return tree["children"] or ([] if "/#" not in tree["url"] or "pytorch_profiler" in tree["url"] else [tree])

        found = self.until(frames, "a frame")
        context: str = found[0]["context"]
        return context

    def ask(self, function: str, *texts: str, context: str | None = None) -> Any:
        """What a function of JavaScript answers; it must be JSON. Runs beside the page, which cannot forbid it."""
        answer = self._call(
            "script.callFunction",
            functionDeclaration=f"async (...texts) => JSON.stringify(await ({function})(...texts))",
            arguments=[{"type": "string", "value": text} for text in texts],
            target={"context": context or self.frame, "sandbox": "test"},
            awaitPromise=True,
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        text = answer["result"].get("value")
        return None if text is None else json.loads(text)

    def until(self, met: Any, what: str) -> Any:
        """The first answer of `met()` that is not nothing."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                found = met()
            except RuntimeError as error:  # the page was just being replaced
                found = None
                last: object = error
            else:
                last = found
            if found:
                return found
            assert time.monotonic() < deadline, f"waited in vain: {what}; last: {last}"
            time.sleep(0.05)

    def see(self, selector: str, text: str) -> None:
        """Wait until an element with exactly this text is there."""
        look = "(css, text) => [...document.querySelectorAll(css)].some((found) => found.textContent.trim() === text)"
        self.until(lambda: self.ask(look, selector, text), f"{selector}: {text}")

    def press(self, *keys: str) -> None:
        """One after the other; `Control+k` together."""
        actions = []
        for key in keys:
            parts = [KEYS.get(part, part) for part in key.split("+")]
            actions += [{"type": "keyDown", "value": part} for part in parts]
            actions += [{"type": "keyUp", "value": part} for part in reversed(parts)]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self._call("input.performActions", context=self.frame, actions=[source])

    def drag(self, *places: tuple[float, float], holding: str = "") -> None:
        """With the left button down from place to place of the page, pixels; one place is a click."""
        (x, y), *further = places
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 30} for x, y in further]
        down = [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0}]
        self._hold(
            holding, {"type": "pointer", "id": "mouse", "actions": [*down, *moves, {"type": "pointerUp", "button": 0}]}
        )

    def turn(self, place: tuple[float, float], pixels: int, holding: str = "") -> None:
        """The wheel, over a place."""
        x, y = place
        scroll = {"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": pixels}
        self._hold(holding, {"type": "wheel", "id": "wheel", "actions": [scroll]})

    def _hold(self, key: str, source: dict[str, Any]) -> None:
        """Do something while a key is down."""
        held = {"type": "key", "id": "keyboard"}
        if key:
            down = {**held, "actions": [{"type": "keyDown", "value": KEYS[key]}]}
            self._call("input.performActions", context=self.frame, actions=[down])
        self._call("input.performActions", context=self.frame, actions=[source])
        if key:
            up = {**held, "actions": [{"type": "keyUp", "value": KEYS[key]}]}
            self._call("input.performActions", context=self.frame, actions=[up])

    def screenshot(self, path: Path) -> None:
        data = self._call("browsingContext.captureScreenshot", context=self.tab)["data"]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(base64.b64decode(data))
