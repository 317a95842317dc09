"""When it happens: scenario, clock, chance, network, applications, and ``simulate``."""
