"""What the engine says of an item: facts, expressions, generated questions, verification."""
