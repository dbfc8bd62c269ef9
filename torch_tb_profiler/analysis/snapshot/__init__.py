"""What a memory snapshot says: curves, what was alive, where it lay, why memory ran out, what grows.

Every number of bytes is either `requested`, what the program asked for, or of blocks, what the allocator took.

    lifetimes            the records and the final state of each device; every allocation from birth to release
    blocks               the sizes of the blocks behind allocations
    history              usage curves, annotations, and the moments that requests name
    layout, segment_map  the segments at a moment and what lies in them; the map that is drawn of them
    frames               names of stacks, and which frame is the user's
    alive                what is in use at a moment by stack, line or size; the difference between two snapshots
    timeline             allocations stacked over time
    oom                  why an allocation failed
    allocation_patterns  what grows from step to step, how long allocations live, which are made again and again
    summary              a snapshot in a few numbers, and what to change
    ranks                the snapshots of several ranks side by side
    link, linked_alive   the trace of the same process: clock offset, and what its operators and modules hold
    tracks               what the Trace view draws of a snapshot
    question             the other questions
"""
