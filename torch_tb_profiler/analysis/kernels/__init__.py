"""What each kernel cost, and in which order kernels ran."""
