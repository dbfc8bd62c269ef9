"""A memory snapshot (`torch.cuda.memory._dump_snapshot`) as tables of columns.

Belongs here: how snapshots are written, and reading one without trusting it. Does not belong here: what the records
mean together (`analysis/snapshot`), and starting the process in which a file is read (`workspace`).

    schema           tables and columns
    child            the process that reads a file, packed files and HTML pages among them, within limits
    unpickle_stream  a pickle → columns, while it is read; no class is ever loaded
    plain_pickle     an unpickler without classes
    records          dicts of records → columns, with the table of stacks
    state            dicts of segments, blocks and annotations → columns
    memory_timeline  what export_memory_timeline wrote
"""
