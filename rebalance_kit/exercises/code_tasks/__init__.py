"""Exercises whose answers plug into the engine or into real clients: assignors, listeners, configs, callbacks."""
