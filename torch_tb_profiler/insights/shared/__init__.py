"""What several rules are about: copies, waits, products, communication, patterns of operators, a file each.

Facts of a trace as rules weigh them. What any analysis may need is in `analysis` or `model`.
"""
