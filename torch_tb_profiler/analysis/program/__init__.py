"""What the program did: phases of training and inference, its own ranges, compiled code, graphs."""
