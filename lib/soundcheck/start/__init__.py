"""What ``soundcheck init`` writes: suites for a kind of model, and for data that it recognises."""
