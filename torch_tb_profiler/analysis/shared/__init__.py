"""What several questions are made of: definitions of quantities, and results that they have in common."""
