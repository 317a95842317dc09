"""Logs of any length made from scenarios, with the truth beside them."""
