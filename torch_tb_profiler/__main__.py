"""`python -m torch_tb_profiler`."""

import sys

from torch_tb_profiler.cli import main

sys.exit(main())
