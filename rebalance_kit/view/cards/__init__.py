"""Pages that people print: protocols, callbacks, clocks, timeouts, from a symptom to its cause, the glossary."""
