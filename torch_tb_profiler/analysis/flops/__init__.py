"""How much operators compute and move, by their arguments: FLOP, bytes, and why it is not known where it is not."""
