"""Models as folders of Hugging Face's Transformers."""
