"""What `check` reads as settings, and how its answer is written: for people, CI systems and programs."""
