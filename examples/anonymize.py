"""Take host name, user name and machine paths out of recorded traces, in place.

    python examples/anonymize.py logs/cnn_workers0/*.pt.trace.json.gz

Torch already writes most stack frames relative to site-packages. What is left and is changed
here: the header fields `host_name`, `username` and `traceName`, and absolute paths before
`site-packages/` or `lib/python3.x/` and before the script's own name in stack frames. The rest
of a file stays as torch wrote it. Process and thread ids, times and object addresses are kept.
"""

from __future__ import annotations

import argparse
import gzip
import re
from pathlib import Path

HEADER_FIELD = re.compile(r'"(host_name|username|traceName)": "(?:[^"\\]|\\.)*"')
LIBRARY_PATH = re.compile(r"/[^\s\":;]*?/(?:site-packages|dist-packages|lib/python3\.\d+)/")
# only from the root: torch/nn/modules/module.py is a name, not a path of this machine
SCRIPT_PATH = re.compile(r"(?<![\w.~-])(?:/[\w.~-]+)+/(?=[\w-]+\.py\(\d+\))")


def anonymized(text: str) -> str:
    text = HEADER_FIELD.sub(r'"\1": "removed"', text)
    return SCRIPT_PATH.sub("", LIBRARY_PATH.sub("", text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="*.pt.trace.json or *.pt.trace.json.gz")
    for path in parser.parse_args().files:
        packed = path.suffix == ".gz"
        content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
        result = anonymized(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        path.write_bytes(gzip.compress(result, 9, mtime=0) if packed else result)
        print(f"{path}: {len(content)} -> {len(result)} bytes")


if __name__ == "__main__":
    main()
