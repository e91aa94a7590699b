"""YAML files become checked, frozen objects."""
