"""The state of the board at every moment of a run."""
