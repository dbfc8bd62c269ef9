"""What Arrow's driver for HDFS needs before a JVM starts in this process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ADVICE = "Set HADOOP_HOME and JAVA_HOME to where Hadoop and Java are, or: pip install hdfs-native"


def prepare(driver: type) -> None:
    """Set CLASSPATH and LIBHDFS_OPTS, unless the driver does without Java."""
    if not driver.__module__.startswith("fsspec."):
        return  # hdfs-native, which takes the place of Arrow's driver when it is installed
    options = os.environ.get("LIBHDFS_OPTS", "")
    if "-Xrs" not in options.split():
        # Else the JVM takes SIGTERM for itself, and nothing of Python that cleans up is run.
        os.environ["LIBHDFS_OPTS"] = f"{options} -Xrs".strip()
    home = os.environ.get("HADOOP_HOME", "")
    program = Path(home) / "bin" / "hadoop"
    if "CLASSPATH" not in os.environ and home and program.is_file():
        # Arrow finds libhdfs.so by HADOOP_HOME, but not the classes.
        found = subprocess.run(
            [program, "classpath", "--glob"], capture_output=True, text=True, check=False, timeout=60
        )
        if found.returncode == 0 and found.stdout.strip():
            os.environ["CLASSPATH"] = found.stdout.strip()
