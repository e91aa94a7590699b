"""Sound material that transforms work with: noises, and impulse responses of rooms."""
