"""A memory snapshot (`torch.cuda.memory._dump_snapshot`) as tables of columns.

Belongs here: how snapshots are written, and reading one without trusting it. Does not belong here: what the records
mean together (`analysis/snapshot`), and starting the process in which a file is read (`workspace`).

    schema      tables and columns
    harvest     a pickle → columns, while it is read; no class is ever loaded
    records     dicts of records → columns, with the table of stacks
    state       dicts of segments, blocks and annotations → columns
    containers  packed files and HTML pages that hold a pickle
    memory_timeline  what export_memory_timeline wrote
    child       what runs in a process of its own, with limits
"""
