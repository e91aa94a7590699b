"""Tiny models of Transformers with random weights, saved as folders: always the same, a few kB, offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from late import Late

tokenizers, torch, transformers = map(Late, ("tokenizers", "torch", "transformers"))
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


WORDS = [f" {letter}" for letter in "abcdefghij"]
SPECIAL = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|transcribe|>", "<|notimestamps|>"]
TIMES = [f"<|{number * 0.02:.2f}|>" for number in range(101)]
TOKENS = {word: number for number, word in enumerate([*WORDS, *SPECIAL, *TIMES])}
END, START = TOKENS["<|endoftext|>"], TOKENS["<|startoftranscript|>"]


def whisper(folder: Path) -> Path:
    """Save a recogniser that hears windows of two seconds and knows two languages."""
    config = transformers.WhisperConfig(
        **{"vocab_size": len(TOKENS), "num_mel_bins": 80, "d_model": 16, "encoder_layers": 2},
        **{"decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2},
        **{"encoder_ffn_dim": 20, "decoder_ffn_dim": 20, "max_source_positions": 100},
        **{"max_target_positions": 24, "tie_word_embeddings": False, "decoder_start_token_id": START},
        **dict.fromkeys(("pad_token_id", "eos_token_id", "bos_token_id"), END),
    )
    extractor = transformers.WhisperFeatureExtractor(feature_size=80, chunk_length=2)
    languages = {
        **{"is_multilingual": True, "lang_to_id": {word: TOKENS[word] for word in ("<|en|>", "<|de|>")}},
        **{"task_to_id": {"transcribe": TOKENS["<|transcribe|>"]}},
        **{"no_timestamps_token_id": TOKENS["<|notimestamps|>"], "max_initial_timestamp_index": 50},
    }
    return _recogniser(folder, transformers.WhisperForConditionalGeneration, config, extractor, **languages)


def moonshine(folder: Path) -> Path:
    """Save a recogniser that hears samples."""
    config = transformers.MoonshineConfig(
        **{"vocab_size": len(TOKENS), "hidden_size": 16, "intermediate_size": 20},
        **{"encoder_num_hidden_layers": 2, "decoder_num_hidden_layers": 2},
        **{"encoder_num_attention_heads": 2, "decoder_num_attention_heads": 2},
        **{"bos_token_id": START, "decoder_start_token_id": START, "eos_token_id": END, "pad_token_id": END},
    )
    extractor = transformers.Wav2Vec2FeatureExtractor(do_normalize=False, return_attention_mask=True)
    return _recogniser(folder, transformers.MoonshineForConditionalGeneration, config, extractor)


def paired(folder: Path) -> Path:
    """Save a recogniser of an encoder and a decoder of different kinds."""
    decoder = transformers.BertConfig(
        **{"vocab_size": len(TOKENS), "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2},
        **{"intermediate_size": 20, "is_decoder": True, "add_cross_attention": True},
    )
    kind = transformers.SpeechEncoderDecoderConfig
    config = kind.from_encoder_decoder_configs(transformers.Wav2Vec2Config(**SMALL), decoder)
    config.decoder_start_token_id, config.pad_token_id, config.eos_token_id = START, END, END
    extractor = transformers.Wav2Vec2FeatureExtractor(return_attention_mask=True)
    return _recogniser(folder, transformers.SpeechEncoderDecoderModel, config, extractor)


def _recogniser(folder: Path, kind: Any, config: Any, extractor: Any, **generation: Any) -> Path:
    """Save a network that says sixteen words, whatever it hears."""
    torch.manual_seed(0)
    network = kind(config)
    _spread(network)
    network.generation_config = transformers.GenerationConfig(
        **{"decoder_start_token_id": START, "eos_token_id": END, "pad_token_id": END, "max_length": 16},
        **{"suppress_tokens": list(range(len(WORDS), len(TOKENS)))},  # random weights would end at once
        **generation,
    )
    network.save_pretrained(folder)
    extractor.save_pretrained(folder)
    model = tokenizers.models.WordLevel(TOKENS, unk_token="<|endoftext|>")
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(model),
        **{"eos_token": "<|endoftext|>", "additional_special_tokens": [*SPECIAL, *TIMES]},
    ).save_pretrained(folder)
    return folder


def _spread(network: Any) -> None:
    """Make random weights large, so that different signals have different answers."""
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.ndim > 1:
                weight.mul_(50 if "decoder" in name else 5)
