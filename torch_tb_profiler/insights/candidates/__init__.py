"""What is worth optimizing, for machines: work with its arguments, its roof, and the saving of the step by replay."""
