"""Pages that people print: the clocks of a member, the way from a symptom to its cause."""
