"""Sound material made by computation, for suites that name no recordings."""
