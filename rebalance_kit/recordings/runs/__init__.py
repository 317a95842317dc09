"""One recorded run: its folder, the pack, its trace, and what its truth says."""
