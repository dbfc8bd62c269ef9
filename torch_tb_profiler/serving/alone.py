"""The server of its own: `torch-tb-profiler serve`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_tb_profiler.web.app import create_app
from torch_tb_profiler.web.drops import Drops, takes_none
from torch_tb_profiler.web.hosts import is_loopback, only_for, only_from_here
from torch_tb_profiler.web.queries import PATH, Queries
from torch_tb_profiler.web.server import serve
from torch_tb_profiler.web.time_limit import TimeLimit
from torch_tb_profiler.workspace import Workspace


def is_for_this_machine(host: str, other_names: Sequence[str]) -> bool:
    """Return whether nobody else reaches a server that listens on `host`, not through a proxy either."""
    return is_loopback(host) and not other_names


def serve_alone(
    workspace: Workspace,
    host: str,
    port: int,
    other_names: Sequence[str],
    seconds: float,
    with_sql: bool,
    announce: Callable[[str], None],
) -> None:
    """Serve a workspace until the process is told to end, and close it. Raises OSError, OverflowError, UnicodeError.

    other_names: under which browsers reach the server, too, such as that of a proxy
    seconds: for computing one answer
    announce: is given the address once the server listens
    """
    drops, queries = Drops(workspace), Queries() if with_sql else None
    try:
        app = create_app(workspace, TimeLimit(seconds), queries.routes() if queries else {})
        app = drops.around(app) if is_for_this_machine(host, other_names) else takes_none(app)
        serve(only_for(only_from_here(app, PATH), host, other_names), host, port, announce)
    finally:
        if queries:
            queries.sessions.close()
        workspace.close()
        drops.close()
