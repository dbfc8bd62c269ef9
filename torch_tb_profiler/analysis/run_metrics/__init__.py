"""One row of numbers for each trace."""
