"""Whether a change removed the cause that a finding names, and made the step as much faster as predicted."""
