"""Models that are services, asked over the network."""
