"""What can be asked of timelines: parameters, answers and what computes them (docs/timeline-protocol.md)."""
