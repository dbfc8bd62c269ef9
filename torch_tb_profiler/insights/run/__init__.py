"""What to do about what the traces of all ranks of a run show: facts, rules, findings and what bounds the run."""
