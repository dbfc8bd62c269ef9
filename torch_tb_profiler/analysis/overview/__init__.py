"""The trace on one page: steps, devices, the largest operators and kernels."""
