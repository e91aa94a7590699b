"""Tables as the recipes of SpeechBrain make them."""

import pytest
from segment_rows import rows

TABLE = """ID,duration,wav,spk_id,wrd
84-1-0,0.5,$data_root/test/84/1/84-1-0.wav,84-1,TURN LEFT
84-1-1,0.5,$data_root/test/84/1/84-1-1.wav,84-1,"SWITCH, ON"
85-2-0,0.5,$data_root/test/85/2/85-2-0.wav,85-2,
"""
SOUNDS = {f"libri/test/{n}.wav": i for i, n in enumerate(("84/1/84-1-0", "84/1/84-1-1", "85/2/85-2-0"))}
ENTRY = "format: speechbrain, path: test.csv, "


@pytest.mark.parametrize("table", [TABLE, TABLE.replace('"SWITCH, ON"', "SWITCH ON").replace(",", ", ")])
@pytest.mark.parametrize("variable", ["$data_root", "{data_root}", "${data_root}"])
def test_a_table(load, variable, table):
    corpus = load(f"{ENTRY}root: libri", SOUNDS | {"test.csv": table.replace("$data_root", variable)})
    assert rows(corpus, "file", "item", "speaker", "transcript") == [
        ("test/84/1/84-1-0.wav", "84-1-0", "84-1", "TURN LEFT"),
        ("test/84/1/84-1-1.wav", "84-1-1", "84-1", "SWITCH, ON" if table == TABLE else "SWITCH ON"),
        ("test/85/2/85-2-0.wav", "85-2-0", "85-2", None),
    ]


def test_without_sound(load):
    corpus = load(f"{ENTRY}audio: false", {"test.csv": TABLE.replace("0.5", "2.5")})
    assert corpus.segments["duration"].tolist() == [2.5] * 3
    assert "$data_root in paths is the folder of the table; `root:` names another one" in corpus.notices


def test_samples_become_seconds(load, refused):
    lines = (f"u{n},0.2,$data_root/test/84/1/84-1-0.wav,{n * 3200},{(n + 1) * 3200},s\n" for n in range(2))
    files = SOUNDS | {"test.csv": "ID,duration,wav,start,stop,spk_id\n" + "".join(lines)}
    corpus = load(f"{ENTRY}root: libri, sampling_rate: 16000", files)
    assert rows(corpus, "start", "end") == [(0.0, 0.2), (0.2, 0.4)]
    words = "line 1, columns start and stop: are numbers of samples.*sampling_rate"
    refused(words, f"{ENTRY}root: libri", files)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (TABLE.replace("wav,", "path,"), "line 1, column wav: the column is missing. Did you mean 'path'"),
        (TABLE.replace("84-1-1,0.5", "84-1-0,0.5"), "lines 2 and 3, column ID: the ID '84-1-0' stands twice"),
        (TABLE.replace("$data_root/test/85", "$other/test/85"), r"different variables: \$data_root, \$other"),
        (TABLE.replace("$data_root/test/85", "$data_root/../x/85"), "leads out of the corpus folder"),
        (TABLE.replace("$data_root/test/85", "/test/85"), "line 4, column file: .* is an absolute path"),
        (TABLE.replace("$data_root/test/85", "$data_root/none/85"), "line 4, column file: .* does not exist"),
        (TABLE.replace(",wrd", ",wav"), "two columns are called 'wav'"),
        (TABLE.replace("TURN LEFT", "TURN, LEFT"), "line 2: the row has 6 cells, the header 5"),
        (TABLE.replace("TURN", "T\xdcRN").encode("latin-1"), "line 2: byte .* is not UTF-8"),
        ('{"audio_filepath": "a.wav"}\n', "This looks like `format: nemo`"),
        ("", "the file is empty"),
    ],
)
def test_refused(refused, content, words):
    refused(rf"^test.csv.*({words})", f"{ENTRY}root: libri", SOUNDS | {"test.csv": content})
