"""From files to the lines that matter and the messages in them."""
