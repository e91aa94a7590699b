"""What the ``soundcheck`` command can do, thin: parse, call, say, exit code."""
