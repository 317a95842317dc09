"""The broker's log of a trace."""
