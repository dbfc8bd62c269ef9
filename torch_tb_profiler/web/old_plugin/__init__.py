"""The routes of the old torch-tb-profiler, in its shapes, which do not change any more."""
