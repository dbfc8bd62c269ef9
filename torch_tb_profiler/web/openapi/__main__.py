"""Writes the document to the standard output."""

import sys

from torch_tb_profiler.web.openapi import as_text

sys.stdout.write(as_text())
