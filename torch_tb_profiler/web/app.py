"""The WSGI application: a route for each path, and a limit on the time that its answer takes."""

from __future__ import annotations

import copyreg
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from werkzeug import Request, Response

from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.defaults import ANSWER_SECONDS
from torch_tb_profiler.questions import QUESTIONS, TIMELINE_QUESTIONS
from torch_tb_profiler.trace.column_file import ColumnFileError
from torch_tb_profiler.web import hang, logdir, report, static_files, trace_file
from torch_tb_profiler.web.answers import route_of
from torch_tb_profiler.web.answers.request import Route
from torch_tb_profiler.web.http import NO_THREAD, HttpAnswer, HttpError, Parameters
from torch_tb_profiler.web.old_plugin.questions import QUESTIONS as OLD_QUESTIONS
from torch_tb_profiler.web.responses import respond, respond_error, respond_failure
from torch_tb_profiler.workspace import Workspace


def _openapi(_: Workspace, __: Parameters) -> HttpAnswer:
    # hardly ever used, and it would take memory in every process
    from torch_tb_profiler.web.openapi import document

    return HttpAnswer(dumps(document()))


def _page(_: Workspace, __: Parameters) -> HttpAnswer:
    return static_files.page()


def _entry_module(_: Workspace, __: Parameters) -> HttpAnswer:
    return static_files.entry_module()


_BY_PATH: dict[str, Question] = {
    question.path: question for question in (*QUESTIONS, *OLD_QUESTIONS, *TIMELINE_QUESTIONS)
}


def question_at(path: str) -> Question:
    return _BY_PATH[path]


def _reduced(question: Question) -> str | tuple[Any, ...]:
    """Pickle a question for a process that answers: its functions cannot be sent, its path can."""
    if _BY_PATH.get(question.path) is question:
        return question_at, (question.path,)
    return type(question).__reduce__(question)


copyreg.pickle(Question, _reduced)

ROUTES: dict[str, Route] = {
    "/": _page,
    "/index.html": _page,
    "/index.js": _entry_module,
    "/api/openapi.json": _openapi,
    "/api/hang": hang.hang_answer,
    "/api/report": report.report_answer,
    "/api/status": logdir.status,
    "/runs": logdir.runs,
    "/views": logdir.views,
    "/workers": logdir.workers,
    "/spans": logdir.spans,
    **trace_file.ROUTES,
    **{path: route_of(question) for question in _BY_PATH.values() for path in (question.path, *question.aliases)},
}


T = TypeVar("T")

#: computations at once, including those that nobody waits for any more
MOST = 64
#: seconds that a request waits for one of these to end
PATIENCE = 5.0
#: seconds after which an idle thread ends
IDLE_SECONDS = 10.0


class _Work(NamedTuple):
    """A computation, and the future of who waits for it."""

    make: Callable[[], Any]
    future: Future[Any]


class TimeLimit:
    """Limits the time and number of computations of an application. Thread-safe."""

    def __init__(self, seconds: float = ANSWER_SECONDS, most: int = MOST) -> None:
        self._seconds = seconds
        self._most = most
        self._room = threading.BoundedSemaphore(most)
        self._waiting: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0  # threads without work

    def call(self, make: Callable[[], T]) -> T:
        """Return what `make` gives, and raise what it raises. Raises HttpError (503) when that takes too long.

        `make` then goes on: a thread cannot be ended without harm to what it holds. Its answer is kept where answers
        are kept, so asking again may find it. Threads of the kind are bounded.
        """
        until = time.monotonic() + self._seconds
        if not self._room.acquire(timeout=min(PATIENCE, self._seconds)):
            raise HttpError(503, f"{self._most} answers are being computed; ask again later")
        future: Future[T] = Future()

        try:
            self._give(_Work(make, future))
        except RuntimeError:
            self._room.release()
            raise HttpError(503, NO_THREAD) from None
        try:
            return future.result(max(until - time.monotonic(), 0.0))
        except NotYet:
            if future.done():  # it is what `make` raised, or came this moment
                return future.result()
            text = f"computing this takes longer than {self._seconds:g} s; it goes on, so ask again later"
            raise HttpError(503, text) from None

    def _give(self, work: _Work) -> None:
        """Hand work to an idle thread, else to a new one: starting one takes longer than most answers that are kept.

        Raises RuntimeError: there can be no other thread.
        """
        with self._lock:
            is_one_idle = self._idle > 0
            self._idle -= is_one_idle
        if is_one_idle:
            self._waiting.put(work)
        else:
            threading.Thread(target=self._run, args=(work,), name="answer", daemon=True).start()

    def _run(self, work: _Work) -> None:
        while True:
            try:
                work.future.set_result(work.make())
            except BaseException as error:  # noqa: BLE001  # whoever waits gets it
                work.future.set_exception(error)
            finally:
                self._room.release()
            del work  # and with it what it has found
            with self._lock:
                self._idle += 1
            try:
                work = self._waiting.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._idle > 0:
                        self._idle -= 1
                        return
                work = self._waiting.get()  # it was given something at this moment


if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_ASSETS = "/assets/"
#: answered even when everything else is busy: the page, which says so, and the progress of reading
_ALWAYS = frozenset({"/", "/index.html", "/index.js", "/api/status"})


def create_app(
    workspace: Workspace, limit: TimeLimit | None = None, more: Mapping[str, Route] | None = None
) -> WSGIApplication:
    """Return the WSGI application of docs/api.md and the page, for a workspace. more: routes of this server alone."""
    time_limit = limit or TimeLimit()
    own = more or {}

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        handle = partial(_handle, workspace, own, request)
        try:
            is_cheap = request.path in _ALWAYS or request.path.startswith(_ASSETS)
            response = handle() if is_cheap else time_limit.call(handle)
        except HttpError as error:
            response = respond_error(request, error)
            response.headers["Retry-After"] = "10"
        return response(environ, start_response)

    return app


def _handle(workspace: Workspace, own: Mapping[str, Route], request: Request) -> Response:
    began = time.monotonic()
    path = "/" + request.path.strip("/")
    try:
        if request.method not in ("GET", "HEAD"):
            raise HttpError(405, f"{request.method} is not allowed: this server is read-only")
        if path.startswith(_ASSETS):
            return respond(request, static_files.asset(path.removeprefix(_ASSETS)))
        route = own.get(path) or ROUTES.get(path)
        if route is None:
            raise HttpError(404, f"there is no {path}")
        try:
            return respond(request, route(workspace, Parameters(request.args.to_dict())))
        except ColumnFileError as error:  # tables of a timeline are read when they are needed
            workspace.repair(error, began)
            raise
    except Exception as error:  # noqa: BLE001 - every request has an answer
        return respond_failure(request, error)
