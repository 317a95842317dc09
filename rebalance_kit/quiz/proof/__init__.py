"""The engine as judge of items: facts, expressions, generated questions, verification."""
