"""What tests of the routes of the timeline share; `workspace` of conftest.py has the traces."""

OF_TRACE = "run=whole&worker=rank0&span=1"
KERNEL = "elementwise_kernel"
