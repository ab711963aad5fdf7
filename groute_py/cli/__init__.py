"""The command line: one file a command. Only here: click, rich, and printing."""
