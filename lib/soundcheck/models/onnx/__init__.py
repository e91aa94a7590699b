"""Models as ONNX: files, folders of audonnx, and those of onnx-asr."""
