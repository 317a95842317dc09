"""What is asked of a look at some logs, and the answer: a verdict, one screen, JSON, CSV, Markdown."""
