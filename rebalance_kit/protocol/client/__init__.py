"""What both kinds of client machine share: settings, the steps of the application thread, commits, close()."""
