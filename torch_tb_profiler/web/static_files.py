"""The files of the built UI."""

from __future__ import annotations

import json
import mimetypes
from importlib.resources import files
from typing import Any

from torch_tb_profiler.web.http import NO_CACHE, HttpAnswer, HttpError

IMMUTABLE = "public, max-age=31536000, immutable"

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; frame-src 'none'; "
    "media-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)

_NOT_BUILT = "The user interface was not built: run `make build` or `python setup.py build_fe`."
_NOT_BUILT_MODULE = f"export function render() {{ document.body.textContent = {_NOT_BUILT!r}; }}\n"
_NOT_BUILT_PAGE = f"<!doctype html><html lang=en><title>PyTorch Profiler</title><p>{_NOT_BUILT}</p></html>\n"

#: characters of a path: for longer ones a file system raises other errors than FileNotFoundError
_LONGEST = 200

# The table of the machine may differ, and with nosniff a browser refuses a module of a wrong type.
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}


def page() -> HttpAnswer:
    """Return the page of the stand-alone server."""
    return _html(_read("index.html") or _NOT_BUILT_PAGE.encode())


def entry_module() -> HttpAnswer:
    """Return the module that TensorBoard imports; the only one whose name carries no hash."""
    body = _read("index.js") or _NOT_BUILT_MODULE.encode()
    return HttpAnswer(body, _TYPES[".js"], NO_CACHE)


def asset(path: str) -> HttpAnswer:
    """Return a file below assets/; their names change with their content."""
    body = _read(f"assets/{path}")
    if body is None:
        raise HttpError(404, f"there is no file assets/{path}")
    ending = path[path.rfind(".") :].lower() if "." in path else ""
    guessed = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return HttpAnswer(body, _TYPES.get(ending, guessed), IMMUTABLE)


def report_page() -> str:
    """Return the page of a report, with the placeholders `{{title}}` and `{{packed}}`. Raises HttpError: not built."""
    return _must_read("report.html")


def built_modules() -> tuple[dict[str, str], dict[str, str]]:
    """Return the UI for a page that fetches nothing: modules by the names that they import, and styles in order."""
    manifest: dict[str, dict[str, Any]] = json.loads(_must_read("manifest.json"))
    paths = dict.fromkeys(chunk["file"] for chunk in manifest.values() if chunk["file"].endswith(".js"))
    names = {path: path.removeprefix("assets/") for path in [*paths, *_styles(manifest)]}
    # A style sheet that is preloaded would be fetched; under another name it is not.
    names = {path: name.replace(".css", ".css.inlined") for path, name in names.items()}
    modules = {names[path]: _by_name(_must_read(path), names) for path in paths}
    return modules, {names[path]: _must_read(path) for path in _styles(manifest)}


def _by_name(code: str, names: dict[str, str]) -> str:
    """Return a module that addresses others by name, and itself as the page."""
    for path, name in names.items():
        # the address from a folder first: it contains the shorter one
        code = (
            code.replace(f"../{path}", name)
            .replace(f"./{path}", name)
            .replace(f"./{path.removeprefix('assets/')}", name)
        )
    return code.replace("import.meta.url", "document.baseURI")


def _styles(manifest: dict[str, dict[str, Any]]) -> list[str]:
    """Return style sheets in the order in which the page comes to need them."""
    styles: dict[str, None] = {}
    seen: set[str] = set()

    def visit(key: str) -> None:
        if key in seen:
            return
        seen.add(key)
        chunk = manifest[key]
        for other in chunk.get("imports", ()):
            visit(other)
        styles.update(dict.fromkeys(chunk.get("css", ())))
        for other in chunk.get("dynamicImports", ()):
            visit(other)

    for key, chunk in manifest.items():
        if chunk.get("isEntry"):
            visit(key)
    return list(styles)


def _must_read(path: str) -> str:
    body = _read(path)
    if body is None:
        raise HttpError(404, _NOT_BUILT)
    return body.decode()


def _html(body: bytes) -> HttpAnswer:
    headers = (("Content-Security-Policy", CONTENT_SECURITY_POLICY),)
    return HttpAnswer(body, _TYPES[".html"], NO_CACHE, headers)


def _read(path: str) -> bytes | None:
    """Return a file of the UI; None if there is none or the path leaves the folder."""
    if len(path) > _LONGEST:
        return None
    place = files("torch_tb_profiler").joinpath("static")
    for part in path.split("/"):
        if part in ("", ".", "..") or "\\" in part or "\0" in part or ":" in part:
            return None
        place = place.joinpath(part)
    return place.read_bytes() if place.is_file() else None
