"""The TensorBoard plugin: mounts the WSGI application and opens the log directory TensorBoard was given."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tensorboard.plugins import base_plugin

from torch_tb_profiler.discovery import Root, parse_logdir, parse_logdir_spec
from torch_tb_profiler.serving import open_for_page
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.web.app import create_app
from torch_tb_profiler.workspace import Workspace, process
from torch_tb_profiler.workspace.listing.scanner import DEFAULT_INTERVAL

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)


class TorchProfilerPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """Reads the log directory itself; TensorBoard's own run list and data provider are not used."""

    plugin_name = "pytorch_profiler"

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._app = create_app(workspace)

    def get_plugin_apps(self) -> dict[str, WSGIApplication]:
        return {"/*": self._mounted}

    def is_active(self) -> bool:
        # The page asks once: until the first listing has ended the answer is unknown, and "no" would stay.
        status = self._workspace.status()
        # A directory whose files are all skipped is shown too, so that the reasons can be read.
        if status.loading or status.runs or status.skipped:
            return True
        # What is wrong with a store is more than TensorBoard says about it.
        return status.remote and status.error is not None

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        return base_plugin.FrontendMetadata(es_module_path="/index.js", disable_reload=False)

    def data_plugin_names(self) -> tuple[str, ...]:
        return ()

    def _mounted(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Run the application below TensorBoard's path for plugins."""
        mount = f"/data/plugin/{self.plugin_name}"
        inner = dict(environ)
        inner["SCRIPT_NAME"] = environ.get("SCRIPT_NAME", "") + mount
        inner["PATH_INFO"] = environ.get("PATH_INFO", "").removeprefix(mount) or "/"
        return self._app(inner, start_response)


def create_plugin(context: base_plugin.TBContext) -> TorchProfilerPlugin | None:
    """Make the plugin for what TensorBoard was started with; None if there is nothing that it could read."""
    process.configure_logging("INFO")
    roots = _roots(context)
    if not roots:
        return None
    cache_dir = getattr(context.flags, "torch_profiler_cache_dir", "")
    try:
        workspace = open_for_page(
            roots,
            cache_dir or None,
            getattr(context.flags, "torch_profiler_workers", 0) or None,
            getattr(context.flags, "reload_interval", DEFAULT_INTERVAL),
            max_expansion=getattr(context.flags, "torch_profiler_max_expansion", 0) or None,
        )
    except StorageError as error:
        log.warning("no PyTorch profiles are shown: %s", error)
        return None
    return TorchProfilerPlugin(workspace)


def _roots(context: base_plugin.TBContext) -> tuple[Root, ...]:
    if context.logdir:
        return parse_logdir(context.logdir)
    return parse_logdir_spec(getattr(context.flags, "logdir_spec", "") or "")
