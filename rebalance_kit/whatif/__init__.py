"""From a group's logs to a scenario, and from the scenario to what other settings would have cost."""
