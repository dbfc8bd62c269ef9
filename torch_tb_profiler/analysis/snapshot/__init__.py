"""What a memory snapshot says: curves, what was alive, where it lay, why memory ran out, what grows.

Every number of bytes is either `requested`, what the program asked for, or of blocks, what the allocator took.

    device      the records and the final state of one device
    lives       every allocation from its birth to its release; what contradicts itself
    blocks      how large the blocks of allocations were
    curves      what was in use after every record
    layout      which segments there were at a moment, and what lay in them
    alive       what was alive at a moment: by stack, line, size
    frames      what stacks are called, and which frame is the user's
    oom         why an allocation failed
    growth      what grows from step to step
    findings    what to change: rules over all of this
    lifetimes   how long allocations of a stack live, and which are made again and again
    timeline    allocations stacked over time
    summary     all of it in a few numbers
    link        whether a trace is of the same process, and how clocks differ
    question    the questions, and the types of their answers
"""
