"""Diagnose recordings, and prove that a change removed the cause: what an agent does, in Python.

    python examples/prove_a_change.py --before samples/cnn_workers0 --after samples/cnn_workers2

Record a program of your own before and after the change in turn, three times each, and name all of them.
"""

from __future__ import annotations

import argparse

import torch_tb_profiler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", nargs="+", required=True, help="recordings before the change")
    parser.add_argument("--after", nargs="+", required=True, help="recordings after it")
    arguments = parser.parse_args()

    print("1. Diagnose")
    trace = torch_tb_profiler.open(arguments.before[0]).trace()
    finding = next((found for found in trace.findings() if found.saving is not None), None)
    if finding is None:
        raise SystemExit("Nothing to save was found.")
    print(f"{finding.key}: {finding.title}\n{finding.advice}")

    print("\n2. What to change, and what a step saves")
    for work in trace.candidates(finding=finding.key).candidates:
        print(f"{work.id} {work.name}: {work.time_ms} ms a step, saves {work.saving_ms.after_others} ms, {work.line}")

    print("\n3. Prove the change")
    print(torch_tb_profiler.prove(arguments.before, arguments.after, finding.key).sentence)


if __name__ == "__main__":
    main()
