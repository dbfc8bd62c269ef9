"""Questions about timelines: parameters, answers and computations (docs/maintainers/timeline-protocol.md)."""
