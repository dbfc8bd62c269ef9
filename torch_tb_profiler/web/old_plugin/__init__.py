"""The routes of the old torch-tb-profiler, with its answer formats, which no longer change."""
