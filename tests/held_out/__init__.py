"""Programs that the rules were not made with: a machine of its own, as torch writes its traces, one fault each."""
