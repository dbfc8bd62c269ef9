"""What is read from the summaries of all ranks, and answers about groups, collectives, clocks and parallelism.

Does not belong here: who is late (`stragglers`), and how it all comes together (`reduction`).
"""
