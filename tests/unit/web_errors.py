"""What tests of routes share."""

from __future__ import annotations

import json
from typing import Any

from werkzeug.test import TestResponse


def error(response: TestResponse, status: int) -> dict[str, Any]:
    assert response.status_code == status
    assert response.content_type == "application/json"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
    body: dict[str, Any] = json.loads(response.data)
    assert body["error"]
    return body
