"""A recorded run repeated in the engine and compared."""
