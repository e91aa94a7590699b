"""Tables, figures and players that notebooks show."""
