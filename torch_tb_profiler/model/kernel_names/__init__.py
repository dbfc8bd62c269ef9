"""What the name of a kernel says: its family (kind of work, library, tensor cores), its element type, a short name.

Belongs here: facts about names, as tables, and how names are taken apart. Does not belong here: what a trace knows
beside the name (`analysis.shared.tensor_cores`).
"""
