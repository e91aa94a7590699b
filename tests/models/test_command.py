"""Programs as models: small scripts, called as they would be in a run, and some run by real workers."""

import dataclasses
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from library_models import load_model
from programs import SIGNAL, World, emptied, gone, predict

from soundcheck.augment import registry
from soundcheck.common.messages import InputError
from soundcheck.models.answers import check_output, unpack
from soundcheck.predict.tables import read_predictions
from soundcheck.run.selection import refuse_code
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

REFUSED = yaml.safe_load(Path(__file__).with_name("refused_commands.yml").read_text())


@pytest.mark.parametrize(("target", "words"), REFUSED.items())
def test_commands_that_are_refused(world, target, words):
    for name in ("asr", "my-asr"):
        world.program("echo x", name)
    world.program("echo x", "plain").chmod(0o644)
    (world.root / "folder").mkdir()
    assert words in world.refused(target)


def test_program_is_found_in_the_folder_then_on_the_path(world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"bin{os.pathsep}{os.environ['PATH']}")  # a relative entry
    monkeypatch.setenv("HOME", str(tmp_path))
    World(tmp_path, world.temporary).program("echo path", "bin/my-asr")
    (world.root / "my-asr").mkdir()  # a folder is no program
    assert world.ask() == world.ask("~/bin/my-asr {audio}") == "path"
    (world.root / "my-asr").rmdir()
    world.program("echo folder")
    world.program("echo below", "tools/my-asr")
    assert world.ask() == world.ask("./my-asr {audio}") == "folder"
    assert world.ask("tools/my-asr {audio}") == "below"
    assert world.ask(f"'{tmp_path / 'bin' / 'my-asr'}' {{audio}}") == "path"


def test_a_suite_names_a_command_which_no_check_runs(world):
    (world.root / "suite.yml").write_text(
        "corpora: {d: {format: demo}}\nmodels: {mine: {command: 'my-asr \"a b\" {audio}'}}\nfamilies: all\n"
    )
    suite = read_suite(world.root / "suite.yml")
    world.program('touch canary; echo "$1"')
    assert len(world.check()) == 40 and not (world.root / "canary").exists()
    assert load_model(suite.models["mine"], suite).predict([SIGNAL], 16000) == [{"transcript": "a b"}]
    with pytest.raises(InputError, match=r"the model runs code \(command\), and --no-code was given"):
        refuse_code(suite)


def test_the_program_gets_a_wav_file_the_suites_folder_and_no_input(world):
    world.python(
        """
        import os, sys, wave
        with wave.open(sys.argv[1]) as sound:
            print(sound.getnchannels(), sound.getframerate(), sound.getsampwidth(), sound.getnframes())
            print(*memoryview(sound.readframes(9)).cast("h"))
        print(os.path.basename(sys.argv[1]), os.path.samefile(".", os.path.dirname(__file__)))
        print(repr(sys.stdin.read()))
        """
    )
    samples = np.array([0, 0.5, -0.5, 1, -1, 3, -3, 0.25], dtype=np.float32)
    samples.flags.writeable = False
    words = world.ask(samples=samples, rate=8000).split()
    assert words[:4] == ["1", "8000", "2", "8"]  # channels, Hz, bytes a sample, samples
    assert np.abs(np.array(words[4:12], dtype=int) - np.clip(samples, -1, 1) * 32768).max() <= 1
    assert words[12:] == ["audio.wav", "True", "''"]


def test_audio_may_stand_anywhere_and_no_shell_runs_the_command(world):
    world.program('for each in "$@"; do echo "[${each##*/}]"; done; cmp "${1#--in=}" "$3" && echo same')
    echo = "[audio.wav] [--] [audio.wav] [{other} {}] same"
    assert world.ask("my-asr --in={audio} -- {audio} '{other} {}'") == echo
    world.program('shift; for each in "$@"; do echo "[$each]"; done')
    words = "; touch canary1 | tee canary2 > canary3 $(touch canary4) `id` && * ~ $HOME".split()
    assert world.ask(f"my-asr {{audio}} {' '.join(words)}") == " ".join(f"[{word}]" for word in words)
    assert [path.name for path in world.root.iterdir()] == ["my-asr"]


def test_what_is_printed_is_the_transcript(world):
    for printed, transcript in (
        ("  hello \\r\\n\\n\\tworld  \\n\\n", "hello world"),
        (" \\n\\n", ""),
        ("gr\\303\\274n \\377", "grün \ufffd"),
        ("<script>x</script> \\033[31mred\\001", "<script>x</script> \x1b[31mred\x01"),
    ):
        world.program(f"printf '{printed}'")
        assert world.ask() == transcript


def predicted(world: World, printed: str, *tasks: str) -> tuple[dict, str]:
    (world.root / "printed").write_text(printed)
    world.program("cat printed")
    entry, suite = world.suite("my-asr {audio}", tasks=tasks)
    outputs = load_model(entry, suite).predict([SIGNAL], 16000)
    return check_output(outputs[0], [suite.tasks[name] for name in tasks])


def test_a_json_object_holds_values_classes_and_embeddings(world):
    printed = '{"arousal": 0.25,\n "emotion": "anger", "other": [], "transcript": " hey\\n"}\n'
    values = {"arousal": 0.25, "emotion": "anger", "transcript": " hey\n"}
    assert predicted(world, printed, *values) == (values, "")
    numbers = [1 / 3 + n for n in range(60_000)]  # more than a megabyte
    answer, problem = predicted(world, json.dumps({"embedding": numbers}), "embedding")
    assert not problem and unpack(answer["embedding"]).tolist() == pytest.approx(numbers, rel=1e-6)


@pytest.mark.parametrize("printed", ["", "[1]", "loading\n{}", "[" * 99999])
def test_what_is_no_json_object(world, printed):
    with pytest.raises(RuntimeError) as caught:
        predicted(world, printed, "arousal", "emotion")
    text = str(caught.value)
    assert text.startswith(f"the program printed '{printed[:20].splitlines()[0] if printed else ''}")
    assert text.endswith('expected is one JSON object such as {"arousal": 0.5, "emotion": "anger"}')
    assert len(text) < 300 and "\n" not in text


def test_a_program_hears_the_same_samples_as_a_python_model(world, rng):
    """Also beyond full scale, where only the file of a program was clipped: up to the rounding to 16 bit."""
    world.python(
        """
        import sys, wave
        with wave.open(sys.argv[1]) as sound:
            print(*memoryview(sound.readframes(sound.getnframes())).cast("h"))
        """
    )
    loud = np.clip(rng.normal(scale=0.5, size=1600), -0.99, 0.99).astype(np.float32)
    beyond = {}
    for change in read_family("asr_fairness").transformed:
        heard, _ = registry.apply(change, loud, 16000, seed=0, content="loud")
        assert np.abs(heard).max() <= 1, change.name
        free = dataclasses.replace(change, options={**change.options, "full_scale": "kept"})
        if np.abs(registry.apply(free, loud, 16000, seed=0, content="loud")[0]).max() > 1:
            beyond.setdefault(change.name.partition(",")[0], heard)
            assert free.identity != change.identity  # so that predictions are not mixed up
    assert {"Amplitude", "Noise"} <= set(beyond)
    for name, heard in beyond.items():
        written = np.array(world.ask(samples=heard).split(), dtype=int) / 32768
        assert np.abs(written - heard).max() <= 1 / 32768, name


def test_a_program_that_fails(world):
    for body, message in (
        ("echo partial; exit 3", "the program ended with exit code 3"),
        ('echo 1 >&2; printf "no  $1\\tfound\\n\\n  \\n" >&2; exit 2', "exit code 2: no audio.wav found"),
        ("printf '50 percent\\r\\033[31mfailed\\033[0m \\001\\377' >&2; exit 1", "1: failed \\x01\ufffd"),
        ("yes | head -c 1000000 >&2; printf '%900s' x | tr ' ' y >&2; exit 9", "yyy…"),
    ):
        world.program(body)
        text = world.fails()
        assert text.endswith(message)
        assert "\n" not in text and len(text) < 300


def test_a_program_that_cannot_be_run(world):
    world.program("").write_bytes(b"\0\0 no program")
    assert "cannot be run: it is neither made for this machine nor a script" in world.fails()
    path = world.program("", first="#!/no/such/interpreter")
    assert "cannot be run: it does not exist, or not the interpreter" in world.fails()
    model = load_model(*world.suite("my-asr {audio}"))
    path.unlink()  # between check and call
    with pytest.raises(RuntimeError, match="the program cannot be run: it does not exist"):
        model.predict([SIGNAL], 16000)


def test_much_output_is_kept_and_endless_output_is_stopped(world):
    world.program("head -c 1000000 /dev/zero | tr '\\0' a; exec head -c 300000 /dev/zero >&2")
    assert world.ask() == "a" * 1_000_000
    world.program("echo $$ > pid; exec yes")
    assert world.fails() == "the program wrote more than 1000000 bytes and was killed"
    assert gone(int((world.root / "pid").read_text()))


def test_the_end_of_the_program_is_the_end(world):
    """Neither something that it leaves running, nor that it closes its streams, nor files that it leaves."""
    world.program("sleep 1000 & echo $! > pid; echo hello")
    start = time.monotonic()
    assert world.ask() == "hello"
    assert time.monotonic() - start < 30
    os.kill(int((world.root / "pid").read_text()), signal.SIGKILL)
    world.program("echo hello; exec >&- 2>&-; sleep 0.3; touch canary")
    assert world.ask() == "hello" and (world.root / "canary").exists()
    world.program('cd "$(dirname "$1")"; mkdir -p deep/er; touch deep/er/x audio.wav.json; chmod 500 deep/er')
    assert world.ask() == ""  # which looks for files that are left


def test_fingerprint_follows_what_the_command_names_but_not_the_place(world, tmp_path, monkeypatch):
    monkeypatch.setenv("SOUNDCHECK_CACHE", str(tmp_path / "cache"))
    world.program("echo x")
    weights = world.root / "weights.bin"
    os.mkfifo(world.root / "pipe")  # would never end if it were opened
    seen = [world.check("my-asr {audio} pipe .")]
    weights.write_text("1")
    assert world.check("my-asr {audio} pipe .") == seen[0]
    world.program("echo y")
    seen.append(world.check("my-asr {audio} pipe ."))
    for target in ("my-asr -m weights.bin {audio}", f"my-asr '--model={weights}' {{audio}}"):
        weights.write_text("1")
        seen.append(world.check(target))
        before = os.stat(weights)
        weights.write_text("2")  # same size, and the same time
        os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
        seen.append(world.check(target))
    assert len(set(seen)) == len(seen)
    weights.write_text("1")
    world.root = world.root.rename(tmp_path / "moved")
    assert world.check("my-asr -m weights.bin {audio}") == seen[2]


def test_what_programs_do_to_a_run(world):
    world.program(
        """
        case $(( ($(wc -c < "$1") - 44) / 320 - 10 )) in  # the length tells the number of a recording
            1) echo "reading $1" >&2; kill -SEGV $$ ;;
            2) sleep 1000 & echo $! $$ > hanging; wait ;;
            3) head -c 300000 /dev/zero | tr '\\0' a ;;
            *) echo heard ;;
        esac
        """
    )
    report = predict(world, 5)
    rows = read_predictions(report.tables["demo"])
    assert rows["transcript"].tolist() == ["heard", None, None, None, "heard"]
    assert rows["error"].tolist() == [
        "",
        "RuntimeError: the program ended with signal 11, SIGSEGV: reading audio.wav",
        "no answer within 2 s",
        "transcript is a text of 300000 characters; at most 100000 are a transcript",
        "",
    ]
    assert (report.failed, report.repeated, report.repeated_different) == (3, 2, 0)
    assert all(gone(int(pid)) for pid in (world.root / "hanging").read_text().split())
    assert emptied(world.temporary)
    logs = "".join(path.read_text() for path in (world.root / "out" / "logs").iterdir())
    assert "reading " in logs
