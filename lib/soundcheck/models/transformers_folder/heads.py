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

from soundcheck.common.messages import Problems, did_you_mean, quoted
from soundcheck.common.tasks import CLASSIFICATION, EMBEDDING, TRANSCRIPTION, Task
from soundcheck.models.answers import CONFIDENCE
from soundcheck.models.library_model import class_answers, classes_of, meant

if TYPE_CHECKING:
    from soundcheck.models.transformers_folder.model import Folder

__all__ = ["HEADS", "Head", "find_head"]

POOLED = "mean"
# Of the classes for speech to text, those that need no prompt and are asked with what the preprocessor makes.
RECOGNISERS = ("moonshine", "speech-encoder-decoder", "whisper")
OWN_CODE = "Write a Python model around it: page Models, section Other frameworks"


class Head(abc.ABC):
    """What stands at the end of a network; what is wrong with its folder or options is noted.

    ``network`` and ``tokenizer`` are set when they are loaded.
    """

    auto: ClassVar[str]  # class of the library that loads the network
    table: ClassVar[str]  # the library's table of classes with such a head
    options: ClassVar[tuple[str, ...]] = ()  # keys of the entry that mean something for it
    needs_tokens: ClassVar[bool] = False  # whether a tokenizer has to be in the folder
    kind: ClassVar[str] = TRANSCRIPTION  # of its task
    wanted: ClassVar[str] = "transcript"  # what to write under ``tasks:``
    network: Any
    tokenizer: Any = None

    def __init__(self, tasks: Sequence[Task], options: Mapping[str, Any], where: str) -> None:
        self._options, self._where, self._tasks = options, where, tasks
        self._name = tasks[0].name

    def understand(self, folder: Folder, problems: Problems) -> None:
        """Read what folder and options say about this head."""
        return

    @classmethod
    def fits(cls, tasks: Sequence[Task]) -> bool:
        """Say whether these tasks can be predicted."""
        return [task.kind for task in tasks] == [cls.kind]

    def check(self, problems: Problems) -> None:
        """Look at the tokenizer, once it is loaded."""
        return

    @abc.abstractmethod
    def answer(self, inputs: dict[str, Any], frames: list[int] | None) -> list:
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

    def understand(self, folder: Folder, problems: Problems) -> None:
        named, outputs, mapping = folder.labels, self._options["outputs"], self._options["labels"]
        self._columns: list[int] = []
        self._classes: list[str] = []
        self._labels = labels = outputs or named
        if outputs is not None and named and len(outputs) != len(named):
            what = f"outputs: {len(outputs)} names for {len(named)} outputs"
            remedy = f"Name all in their order; the folder calls them {', '.join(named)}"
            problems.add(self._where, what, remedy)
            return
        for label in [label for label in mapping if label not in labels]:
            what = f"labels: the model has no {quoted(label)}"
            problems.add(self._where, what, did_you_mean(label, labels))
        if len(problems):
            return
        kind, numbers = folder.config.get("problem_type"), self._tasks[0].is_regression
        if self._options["probabilities"] and (numbers or kind == "multi_label_classification"):
            what = "it has no classes" if numbers else "several classes may be true at a time"
            problems.add(self._where, f"probabilities: {what}", "Remove the key")
        if numbers:
            alone = outputs is None and len(named) == len(self._tasks) == 1  # nothing can be mistaken
            self._columns = [0] if alone else self._find_columns(problems)
        elif outputs is None and kind == "regression":
            what = f"the model answers numbers, not a class of {self._name}"
            problems.add(self._where, what, "Correct tasks:")
        else:
            with problems.collected():
                self._classes = classes_of(labels, self._tasks[0], mapping, self._where)

    def _find_columns(self, problems: Problems) -> list[int]:
        """Find the output of each regression task."""
        labels, names = self._labels, [task.name for task in self._tasks]
        meanings = [meant(label, names, self._options["labels"]) for label in labels]
        for name in names:
            if meanings.count(name) != 1:
                many = "several outputs are" if name in meanings else "no output is"
                named = ", ".join(map(quoted, labels)) or "without names"
                what = f"{many} called {quoted(name)}; the outputs: {named}"
                remedy = f"Name all {len(labels)} in their order, such as outputs: [{', '.join(names)}]"
                problems.add(self._where, what, remedy)
        return [meanings.index(name) for name in names if name in meanings]

    @classmethod
    def fits(cls, tasks: Sequence[Task]) -> bool:
        return all(task.is_regression for task in tasks) or super().fits(tasks)

    def answer(self, inputs: dict[str, Any], frames: list[int] | None) -> list:
        logits = self.network(**inputs).logits.float().cpu().numpy()
        if logits.shape[1] != len(self._labels):
            raise ValueError(f"the model has {logits.shape[1]} outputs, its folder names {len(self._labels)}")
        if self._columns:
            names = [task.name for task in self._tasks]
            return [dict(zip(names, row, strict=True)) for row in logits[:, self._columns].tolist()]
        outputs = class_answers(logits, self._classes, self._options["probabilities"])
        return [{self._name: answer} for answer in outputs]


class Alignments(Head):
    """Connectionist temporal classification: the best token of each frame, repetitions and blanks removed.

    With ``confidence: true`` also the geometric mean of the probabilities of the tokens, as of sentences.
    """

    auto = "AutoModelForCTC"
    table = "MODEL_FOR_CTC_MAPPING_NAMES"
    options = ("confidence",)
    needs_tokens = True

    def check(self, problems: Problems) -> None:
        decoders = (getattr(self.tokenizer, name, print) for name in ("convert_tokens_to_string", "_decode"))
        if not any("group_tokens" in inspect.signature(decoder).parameters for decoder in decoders):
            what = f"its tokenizer ({type(self.tokenizer).__name__}) does not remove repetitions of frames"
            remedy = "Give the folder the tokenizer that the model was trained with"
            problems.add(self._where, what, remedy)

    def answer(self, inputs: dict[str, Any], frames: list[int] | None) -> list:
        logits = self.network(**inputs).logits
        outputs: list[dict[str, Any]] = []
        for number, (numbers, tokens) in enumerate(zip(logits, logits.argmax(-1).tolist(), strict=True)):
            row = tokens if frames is None else tokens[: frames[number]]
            bad = bool((numbers != numbers).any())
            outputs.append({self._name: float("nan") if bad else self.tokenizer.decode(row)})
            if self._options["confidence"]:
                blank, likely = self.tokenizer.pad_token_id, numbers.float().log_softmax(-1).amax(-1)
                spoken = [place for place, token in enumerate(row) if token != blank]
                outputs[-1][CONFIDENCE] = likely[spoken or slice(len(row))].mean().exp().item()
        return outputs


class Sentences(Head):
    """An encoder and a decoder: words follow each other, the most likely next one first; nothing is drawn."""

    auto = "AutoModelForSpeechSeq2Seq"
    table = "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES"
    options = ("language", "confidence")
    needs_tokens = True

    def understand(self, folder: Folder, problems: Problems) -> None:
        self._settings: dict[str, Any] = {"do_sample": False}
        kind, language = folder.config.get("model_type"), self._options["language"]
        if kind not in RECOGNISERS and "auto_map" not in folder.config:
            what = f"models of the type {quoted(kind)} cannot be asked without a prompt"
            problems.add(self._where, what, OWN_CODE)
        if language is not None:
            known = [token.strip("<|>") for token in folder.generation.get("lang_to_id") or ()]
            what, remedy = f"language: {quoted(language)} is none of its codes", did_you_mean(language, known)
            if not known:
                what, remedy = "language: the model knows no languages to choose from", "Remove the key"
            if language not in known:
                problems.add(self._where, what, remedy)
            self._settings |= {"language": language, "task": "transcribe"}

    def answer(self, inputs: dict[str, Any], frames: list[int] | None) -> list:
        settings = dict(self._settings)
        if inputs.pop("long", False):
            settings["return_timestamps"] = True
        # Windows of long signals are generated several times.
        stating = self._options["confidence"] and "return_timestamps" not in settings
        scores = {"return_dict_in_generate": True, "output_scores": True} if stating else {}
        made = self.network.generate(**inputs, **settings, **scores)
        texts = self.tokenizer.batch_decode(made.sequences if stating else made, skip_special_tokens=True)
        outputs: list[dict[str, Any]] = [{self._name: text.strip()} for text in texts]
        if stating:
            transition = self.network.compute_transition_scores
            chosen = transition(made.sequences, made.scores, normalize_logits=True)
            tokens = made.sequences[:, -chosen.shape[1] :].tolist()
            for output, logs, row in zip(outputs, chosen, tokens, strict=True):
                special = self.tokenizer.get_special_tokens_mask(row, already_has_special_tokens=True)
                if spoken := [place for place, is_special in enumerate(special) if not is_special]:
                    output[CONFIDENCE] = logs[spoken].mean().exp().item()
        return outputs


class Vectors(Head):
    """Embeddings of speakers, as x-vectors give them."""

    auto = "AutoModelForAudioXVector"
    table = "MODEL_FOR_AUDIO_XVECTOR_MAPPING_NAMES"
    kind = wanted = EMBEDDING

    def answer(self, inputs: dict[str, Any], frames: list[int] | None) -> list:
        return [{self._name: vector.float().cpu().numpy()} for vector in self.network(**inputs).embeddings]


class Pooled(Vectors):
    """Embeddings of an encoder without head: the mean of the frames of its last layer."""

    auto = "AutoModel"
    table = "MODEL_MAPPING_NAMES"
    options = ("pooling",)

    def answer(self, inputs: dict[str, Any], frames: list[int] | None) -> list:
        hidden = self.network(**inputs).last_hidden_state.float()
        means = (row if frames is None else row[: frames[number]] for number, row in enumerate(hidden))
        return [{self._name: row.mean(0).cpu().numpy()} for row in means]


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
    for head in HEADS:
        known = getattr(tables, head.table).get(kind if isinstance(kind, str) else "", ())
        known = (known,) if isinstance(known, str) else known
        if name in known or (isinstance(code, dict) and head.auto in code):
            return head
    what = f"architectures of config.json, {quoted(name) or 'missing'}, is no class that can be asked here"
    remedy = f"Name a fine-tuned model, or take the frames of an encoder for an embedding: pooling: {POOLED}"
    problems.add(where, f"{what} (transformers {library.__version__})", f"{remedy}. {OWN_CODE}")
    return None
