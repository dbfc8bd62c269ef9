"""FLOP and bytes of operators, from their recorded arguments; where they are unknown, why."""
