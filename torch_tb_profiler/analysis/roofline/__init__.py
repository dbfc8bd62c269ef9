"""How fast a program could be: time at the roof, time lost, and how much of its devices it uses."""
