"""Routes of the Trace view (docs/timeline-protocol.md)."""
