"""What anything may use; knows no domain."""
