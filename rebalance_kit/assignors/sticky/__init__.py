"""The parts of the sticky assignors: claims, movements, the constrained and the general algorithm."""
