"""Measure speed and memory beside the peers and the floor: `make bench`; docs/maintainers/benchmarks.md.

Belongs here: data, environments, measuring in fresh processes, the bars, the report. `probes/` are the scripts that
are measured; each runs in one environment and imports nothing of this package. Nothing here is in the wheel.
"""
