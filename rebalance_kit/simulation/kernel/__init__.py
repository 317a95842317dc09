"""Time, chance, and how long things take."""
