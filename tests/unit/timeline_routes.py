"""What tests of the routes of the timeline share."""

from __future__ import annotations

OF_TRACE = "run=whole&worker=rank0&span=1"
KERNEL = "elementwise_kernel"
