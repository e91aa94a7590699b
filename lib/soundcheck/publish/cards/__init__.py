"""Cards of a model: what they tell, the files that hold them, and the formats."""
