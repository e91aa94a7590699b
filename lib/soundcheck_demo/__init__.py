"""The demo: synthetic speech, small models and synthetic sounds, registered as any package could."""
