"""Tiny models of Transformers with random weights, saved as folders: always the same, a few kB, offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SMALL = {
    **{"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20},
    **{"conv_dim": (32, 32, 32), "conv_stride": (4, 4, 4), "conv_kernel": (8, 8, 8)},
    **{"num_feat_extract_layers": 3, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2},
    **{"classifier_proj_size": 8, "tdnn_dim": (16, 16), "tdnn_kernel": (5, 3), "tdnn_dilation": (1, 1)},
    **{"xvector_output_dim": 12, "vocab_size": 12, "feat_extract_norm": "layer"},
    **{"mask_time_prob": 0.0, "pad_token_id": 0},
}
VOCABULARY = ["<pad>", "<s>", "</s>", "<unk>", "|", *"abcdefg"]


def wav2vec2(
    folder: Path,
    head: str,
    labels: list[str] | None = None,
    *,
    rate: int = 16000,
    mask: bool = True,
    **more: Any,
) -> Path:
    """Save a model such as ``head="ForSequenceClassification"``; weights are large enough to matter."""
    import torch
    import transformers

    if labels:
        more["id2label"] = dict(enumerate(labels))
    config = transformers.Wav2Vec2Config(**SMALL | more)
    torch.manual_seed(0)
    network = getattr(transformers, f"Wav2Vec2{head}")(config)
    _spread(network)
    if head == "ForSequenceClassification":
        torch.nn.init.constant_(network.classifier.bias, 0.5)  # numbers in the middle of the scale
    network.save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor(
        sampling_rate=rate, do_normalize=True, return_attention_mask=mask
    ).save_pretrained(folder)
    if head == "ForCTC":
        words = {word: number for number, word in enumerate(VOCABULARY)}
        folder.joinpath("vocab.json").write_text(json.dumps(words))
        file = str(folder / "vocab.json")
        transformers.Wav2Vec2CTCTokenizer(file, word_delimiter_token="|").save_pretrained(folder)
    return folder


def whisper(folder: Path) -> Path:
    """Save a recogniser that hears windows of two seconds and knows two languages."""
    import tokenizers
    import torch
    import transformers

    special = [
        "<|endoftext|>",
        "<|startoftranscript|>",
        "<|en|>",
        "<|de|>",
        "<|transcribe|>",
        "<|notimestamps|>",
    ]
    times = [f"<|{number * 0.02:.2f}|>" for number in range(101)]
    words = [f" {letter}" for letter in "abcdefghij"]
    vocabulary = {word: number for number, word in enumerate([*words, *special, *times])}
    config = transformers.WhisperConfig(
        **{"vocab_size": len(vocabulary), "num_mel_bins": 80, "d_model": 16, "encoder_layers": 2},
        **{"decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2},
        **{"encoder_ffn_dim": 20, "decoder_ffn_dim": 20, "max_source_positions": 100},
        **{
            "max_target_positions": 24,
            "tie_word_embeddings": False,
            "decoder_start_token_id": vocabulary["<|startoftranscript|>"],
        },
        **dict.fromkeys(("pad_token_id", "eos_token_id", "bos_token_id"), vocabulary["<|endoftext|>"]),
    )
    torch.manual_seed(0)
    network = transformers.WhisperForConditionalGeneration(config)
    _spread(network)
    network.generation_config = transformers.GenerationConfig(
        **{"decoder_start_token_id": config.decoder_start_token_id, "eos_token_id": config.eos_token_id},
        **{"pad_token_id": config.pad_token_id, "max_length": 16, "is_multilingual": True},
        **{"suppress_tokens": list(range(len(words), len(vocabulary)))},  # random weights would end at once
        **{"lang_to_id": {word: vocabulary[word] for word in ("<|en|>", "<|de|>")}},
        **{"task_to_id": {"transcribe": vocabulary["<|transcribe|>"]}},
        **{"no_timestamps_token_id": vocabulary["<|notimestamps|>"], "max_initial_timestamp_index": 50},
    )
    network.save_pretrained(folder)
    transformers.WhisperFeatureExtractor(feature_size=80, chunk_length=2).save_pretrained(folder)
    model = tokenizers.models.WordLevel(vocabulary, unk_token="<|endoftext|>")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(model),
        **{"eos_token": "<|endoftext|>", "additional_special_tokens": [*special, *times]},
    )
    tokenizer.save_pretrained(folder)
    return folder


def _spread(network: Any) -> None:
    """Make random weights large, so that different signals have different answers."""
    import torch

    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.ndim > 1:
                weight.mul_(50 if "decoder" in name else 5)
