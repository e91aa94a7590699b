import numpy as np
import pytest
import soundfile
from segment_rows import rows

from soundcheck.common.errors import InputError

TABLE = """ID,duration,wav,spk_id,wrd
84-1-0,0.5,$data_root/test/84/1/84-1-0.wav,84-1,TURN LEFT
84-1-1,0.5,$data_root/test/84/1/84-1-1.wav,84-1,"SWITCH, ON"
85-2-0,0.5,$data_root/test/85/2/85-2-0.wav,85-2,
"""


@pytest.fixture
def load(tmp_path, load):
    for number, name in enumerate(("84/1/84-1-0", "84/1/84-1-1", "85/2/85-2-0")):
        path = tmp_path / "libri" / "test" / f"{name}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        tone = 0.1 * np.sin(2 * np.pi * (100 + number) * np.arange(8000) / 16000)
        soundfile.write(path, tone, 16000)

    def read(content: str | bytes = TABLE, keys="root: libri"):
        (tmp_path / "test.csv").write_bytes(content.encode() if isinstance(content, str) else content)
        return load(f"format: speechbrain, path: test.csv, {keys}")

    return read


@pytest.mark.parametrize("variable", ["$data_root", "{data_root}", "${data_root}"])
@pytest.mark.parametrize("change", [str, lambda text: text.replace(",", ", ").replace('", ', '",')])
def test_a_table(load, variable, change):
    corpus = load(change(TABLE.replace("$data_root", variable).replace('"SWITCH, ON"', "SWITCH ON")))
    assert rows(corpus, "file", "item", "speaker", "transcript") == [
        ("test/84/1/84-1-0.wav", "84-1-0", "84-1", "TURN LEFT"),
        ("test/84/1/84-1-1.wav", "84-1-1", "84-1", "SWITCH ON"),
        ("test/85/2/85-2-0.wav", "85-2-0", "85-2", None),
    ]


def test_commas_in_quotes(load):
    assert rows(load(), "transcript")[1] == ("SWITCH, ON",)


def test_without_sound(load):
    corpus = load(TABLE.replace("0.5", "2.5"), "audio: false")
    assert corpus.segments["duration"].tolist() == [2.5] * 3
    assert "$data_root in paths is the folder of the table; `root:` names another one" in corpus.notices


def test_samples_become_seconds(load):
    table = "ID,duration,wav,start,stop,spk_id\n" + "".join(
        f"u{n},0.2,$data_root/test/84/1/84-1-0.wav,{n * 3200},{(n + 1) * 3200},s\n" for n in range(2)
    )
    corpus = load(table, "root: libri, sampling_rate: 16000")
    assert rows(corpus, "start", "end") == [(0.0, 0.2), (0.2, 0.4)]
    with pytest.raises(
        InputError, match="line 1, columns start and stop: are numbers of samples.*sampling_rate"
    ):
        load(table)


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
def test_refused(load, content, words):
    with pytest.raises(InputError, match=rf"^test.csv.*({words})"):
        load(content)
