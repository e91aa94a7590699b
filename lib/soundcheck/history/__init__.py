"""How models changed from run to run: what runs leave, what of it is comparable, what became worse."""
