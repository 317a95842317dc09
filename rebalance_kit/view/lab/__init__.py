"""The lab: a widget, its page, and what answers the page's requests."""
