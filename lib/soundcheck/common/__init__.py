"""What any package may use; knows nothing of speech or tests."""
