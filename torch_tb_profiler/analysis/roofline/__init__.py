"""How fast it could be: time at the roof, time lost, and how much of what devices can do a program uses."""
