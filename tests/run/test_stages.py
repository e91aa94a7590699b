"""The account of a run: what took how long."""

from soundcheck.run.outcome import Stages


def test_stages_follow_each_other_and_are_told_in_logs(capsys):
    times = iter([0.0, 1.0, 5.0, 5.0, 65.0, 65.0, 69.0])
    stages = Stages(lambda: next(times))
    stages.begin("corpora")
    stages.begin("predictions")
    stages.begin("corpora")
    stages.end()
    stages.end()
    assert stages.seconds == {"corpora": 8.0, "predictions": 60.0}
    assert stages.account == "Time: 1 min 8 s (corpora 8 s, predictions 1 min 0 s)"
    assert capsys.readouterr().err == "[1 s] corpora\n[5 s] predictions\n[1 min 5 s] corpora\n"


def test_what_took_no_time_is_not_listed(capsys):
    stages = Stages(lambda: 0.0)
    stages.begin("book")
    stages.end()
    assert stages.account == "Time: 0 s"
