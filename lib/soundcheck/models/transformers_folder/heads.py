"""What a model of Transformers predicts: from the outputs of its head to classes, numbers, words and vectors.

A head is found by the class that the weights were saved from. Each is made once and asked with inputs that
are stacked along their first axis, all equally long, or padded behind with an attention mask.
"""

from __future__ import annotations

import abc
import inspect
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import CLASSIFICATION, EMBEDDING, TRANSCRIPTION, Task
from soundcheck.models.answers import CONFIDENCE
from soundcheck.models.class_labels import class_answers, classes_of, meant

if TYPE_CHECKING:
    from soundcheck.models.transformers_folder.files import Folder

__all__ = ["HEADS", "Head", "find_head"]

POOLED = "mean"
# Of the classes for speech to text, those that need no prompt and are asked with what the preprocessor makes.
RECOGNISERS = ("moonshine", "speech-encoder-decoder", "whisper")
OWN_CODE = "Write a Python model around it: page Models, section Other frameworks"


class Head(abc.ABC):
    """What stands at the end of a network; what is wrong with its folder or options is noted."""

    auto: ClassVar[str]  # class of the library that loads the network
    table: ClassVar[str]  # the library's table of classes with such a head
    options: ClassVar[tuple[str, ...]] = ()  # keys of the entry that mean something for it
    needs_tokens: ClassVar[bool] = False  # whether a tokenizer has to be in the folder
    kind: ClassVar[str] = TRANSCRIPTION  # of its task
    wanted: ClassVar[str] = "transcript"  # what to write under ``tasks:``

    def __init__(
        self,
        folder: Folder,
        tasks: Sequence[Task],
        options: Mapping[str, Any],
        where: str,
        problems: Problems,
    ) -> None:
        self._folder, self._options, self._where = folder, options, where
        self._tasks, self._names = tasks, [task.name for task in tasks]
        self.understand(problems)

    def understand(self, problems: Problems) -> None:
        """Read what folder and options say about this head."""
        return

    @classmethod
    def fits(cls, tasks: Sequence[Task]) -> bool:
        """Say whether these tasks can be predicted."""
        return [task.kind for task in tasks] == [cls.kind]

    def check(self, tokenizer: Any, where: str, problems: Problems) -> None:
        """Look at the tokenizer, once it is loaded."""
        return

    @abc.abstractmethod
    def answer(self, model: Any, tokenizer: Any, inputs: dict[str, Any], frames: list[int] | None) -> list:
        """Ask the network; one unchecked prediction a signal, NaN where it has computed none.

        ``inputs``: name -> tensor, first axis: signals. ``frames`` of each signal that are no padding;
        ``None`` = all.
        """


class Logits(Head):
    """Classes or numbers: one head predicts one classification task, or regression tasks."""

    auto = "AutoModelForAudioClassification"
    table = "MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING_NAMES"
    options = ("labels", "outputs", "probabilities")
    kind = CLASSIFICATION
    wanted = "one classification task, or regression tasks"

    def understand(self, problems: Problems) -> None:
        folder, options, where = self._folder, self._options, self._where
        named, outputs, mapping = folder.labels, options.get("outputs"), options.get("labels") or {}
        self._columns: list[int] = []
        self._classes: list[str] = []
        labels = outputs or named
        self._size = len(labels)
        if outputs is not None and named and len(outputs) != len(named):
            what = f"outputs: {len(outputs)} names for {len(named)} outputs"
            problems.add(where, what, f"Name all in their order; the folder calls them {', '.join(named)}")
            return
        for label in [label for label in mapping if label not in labels]:
            problems.add(where, f"labels: the model has no {quoted(label)}", did_you_mean(label, labels))
        if len(problems):
            return
        kind, numbers = folder.config.get("problem_type"), self._tasks[0].is_regression
        if options.get("probabilities") and (numbers or kind == "multi_label_classification"):
            what = "it has no classes" if numbers else "several classes may be true at a time"
            problems.add(where, f"probabilities: {what}", "Remove the key")
        if numbers:
            alone = outputs is None and len(named) == len(self._tasks) == 1  # nothing can be mistaken
            self._columns = [0] if alone else _columns(labels, self._names, mapping, where, problems)
        elif outputs is None and kind == "regression":
            what = f"the model answers numbers, not a class of {self._names[0]}"
            problems.add(where, what, "Correct tasks:")
        else:
            with problems.collected():
                self._classes = classes_of(labels, self._tasks[0], mapping, where)

    @classmethod
    def fits(cls, tasks: Sequence[Task]) -> bool:
        return all(task.is_regression for task in tasks) or super().fits(tasks)

    def answer(self, model: Any, tokenizer: Any, inputs: dict[str, Any], frames: list[int] | None) -> list:
        logits = model(**inputs).logits.float().cpu().numpy()
        if logits.shape[1] != self._size:
            raise ValueError(f"the model has {logits.shape[1]} outputs, its folder names {self._size}")
        if self._columns:
            rows = logits[:, self._columns].tolist()
            return [dict(zip(self._names, row, strict=True)) for row in rows]
        outputs = class_answers(logits, self._classes, self._options.get("probabilities"))
        return [{self._names[0]: answer} for answer in outputs]


def _columns(
    labels: Sequence[str], names: Sequence[str], mapping: Mapping[str, str], where: str, problems: Problems
) -> list[int]:
    """Find the output of each regression task."""
    meanings = [meant(label, names, mapping) for label in labels]
    for name in names:
        if meanings.count(name) != 1:
            many = "several outputs are" if name in meanings else "no output is"
            named = ", ".join(map(quoted, labels)) or "without names"
            what = f"{many} called {quoted(name)}; the outputs: {named}"
            remedy = f"Name all {len(labels)} in their order, such as outputs: [{', '.join(names)}]"
            problems.add(where, what, remedy)
    return [meanings.index(name) for name in names if name in meanings]


class Transcripts(Head):
    """Words; with ``confidence: true`` also the geometric mean of the probabilities of their tokens."""

    needs_tokens = True
    options = ("confidence",)


class Alignments(Transcripts):
    """Connectionist temporal classification: the best token of each frame, repetitions and blanks removed."""

    auto = "AutoModelForCTC"
    table = "MODEL_FOR_CTC_MAPPING_NAMES"

    def check(self, tokenizer: Any, where: str, problems: Problems) -> None:
        decoders = (getattr(tokenizer, name, None) for name in ("convert_tokens_to_string", "_decode"))
        if not any(
            decoder and "group_tokens" in inspect.signature(decoder).parameters for decoder in decoders
        ):
            what = f"its tokenizer ({type(tokenizer).__name__}) does not remove repetitions of frames"
            problems.add(where, what, "Give the folder the tokenizer that the model was trained with")

    def answer(self, model: Any, tokenizer: Any, inputs: dict[str, Any], frames: list[int] | None) -> list:
        logits = model(**inputs).logits
        bad = (logits != logits).flatten(1).any(1).tolist()
        tokens = logits.argmax(-1).tolist()
        rows = [row if frames is None else row[: frames[number]] for number, row in enumerate(tokens)]
        texts = [float("nan") if bad[number] else tokenizer.decode(row) for number, row in enumerate(rows)]
        outputs: list[dict[str, Any]] = [{self._names[0]: text} for text in texts]
        if self._options.get("confidence"):
            likely = logits.float().log_softmax(-1).amax(-1)
            for output, row, selected in zip(outputs, rows, likely, strict=True):
                spoken = [place for place, token in enumerate(row) if token != tokenizer.pad_token_id]
                output[CONFIDENCE] = selected[spoken or slice(len(row))].mean().exp().item()
        return outputs


class Sentences(Transcripts):
    """An encoder and a decoder: words follow each other, the most likely next one first; nothing is drawn."""

    auto = "AutoModelForSpeechSeq2Seq"
    table = "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES"
    options = ("language", "confidence")

    def understand(self, problems: Problems) -> None:
        folder, options, where = self._folder, self._options, self._where
        self._settings: dict[str, Any] = {"do_sample": False}
        kind = folder.config.get("model_type")
        if kind not in RECOGNISERS and "auto_map" not in folder.config:
            what = f"models of the type {quoted(kind)} cannot be asked without a prompt"
            problems.add(where, what, OWN_CODE)
        language = options.get("language")
        if language is not None:
            known = [token.strip("<|>") for token in folder.generation.get("lang_to_id") or ()]
            if not known:
                problems.add(where, "language: the model knows no languages to choose from", "Remove the key")
            elif language not in known:
                what = f"language: {quoted(language)} is none of its codes"
                problems.add(where, what, did_you_mean(language, known))
            self._settings |= {"language": language, "task": "transcribe"}

    def answer(self, model: Any, tokenizer: Any, inputs: dict[str, Any], frames: list[int] | None) -> list:
        long = {"return_timestamps": True} if inputs.pop("long", False) else {}
        stating = (
            bool(self._options.get("confidence")) and not long
        )  # windows of long signals are generated several times
        scores = {"return_dict_in_generate": True, "output_scores": True} if stating else {}
        made = model.generate(**inputs, **self._settings, **long, **scores)
        texts = tokenizer.batch_decode(made.sequences if stating else made, skip_special_tokens=True)
        outputs: list[dict[str, Any]] = [{self._names[0]: text.strip()} for text in texts]
        if stating:
            chosen = model.compute_transition_scores(made.sequences, made.scores, normalize_logits=True)
            tokens = made.sequences[:, -chosen.shape[1] :]
            special = [
                list(map(int, tokenizer.get_special_tokens_mask(row, already_has_special_tokens=True)))
                for row in tokens.tolist()
            ]
            for output, selected, left_out in zip(outputs, chosen, special, strict=True):
                spoken = [place for place, is_special in enumerate(left_out) if not is_special]
                if spoken:
                    output[CONFIDENCE] = selected[spoken].mean().exp().item()
        return outputs


class Vectors(Head):
    """Embeddings of speakers, as x-vectors give them."""

    auto = "AutoModelForAudioXVector"
    table = "MODEL_FOR_AUDIO_XVECTOR_MAPPING_NAMES"
    kind = wanted = EMBEDDING

    def answer(self, model: Any, tokenizer: Any, inputs: dict[str, Any], frames: list[int] | None) -> list:
        return [{self._names[0]: vector.float().cpu().numpy()} for vector in model(**inputs).embeddings]


class Pooled(Vectors):
    """Embeddings of an encoder without head: the mean of the frames of its last layer."""

    auto = "AutoModel"
    table = "MODEL_MAPPING_NAMES"
    options = ("pooling",)

    def answer(self, model: Any, tokenizer: Any, inputs: dict[str, Any], frames: list[int] | None) -> list:
        hidden = model(**inputs).last_hidden_state.float()
        means = (row if frames is None else row[: frames[number]] for number, row in enumerate(hidden))
        return [{self._names[0]: row.mean(0).cpu().numpy()} for row in means]


HEADS: tuple[type[Head], ...] = (Logits, Alignments, Sentences, Vectors)


def find_head(
    folder: Folder, options: Mapping[str, Any], library: ModuleType, where: str, problems: Problems
) -> type[Head] | None:
    """Find the head of a folder's model; notes what is wrong if there is none.

    ``library`` is the module ``transformers``.
    """
    if options.get("pooling"):
        return Pooled
    tables = library.models.auto.modeling_auto
    kind, name = folder.config.get("model_type"), folder.architecture
    code = folder.config.get("auto_map")
    code = code if isinstance(code, dict) else {}
    for head in HEADS:
        classes = getattr(tables, head.table).get(kind) if isinstance(kind, str) else None
        if name and name in ((classes,) if isinstance(classes, str) else classes or ()) or head.auto in code:
            return head
    if not name:
        what, remedy = "config.json does not say what it is: architectures is missing", "Add its class"
    elif name in _flat(getattr(tables, Pooled.table).values()) | _flat(
        tables.MODEL_FOR_PRETRAINING_MAPPING_NAMES.values()
    ):
        what = f"{name} is an encoder without head"
        remedy = f"Name a fine-tuned model, or take its frames for an embedding: pooling: {POOLED}"
    elif hasattr(library, name):
        what, remedy = f"{name} is a class that Soundcheck does not know how to ask", OWN_CODE
    else:
        what = f"{quoted(name)} is no class of transformers {library.__version__}"
        remedy = f"If it is new, install a newer version. {OWN_CODE}"
    problems.add(where, what, remedy)
    return None


def _flat(values: Any) -> set[str]:
    """Put names and tuples of names together."""
    return {name for value in values for name in ((value,) if isinstance(value, str) else value)}
