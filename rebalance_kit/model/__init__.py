"""What exists: topology, configuration, trace rows and errors. Imports nothing of the kit but itself."""
