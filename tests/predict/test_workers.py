import subprocess
import sys


def test_a_worker_starts_light():
    code = (
        "import sys, soundcheck.predict.workers; "
        "heavy = {'papermill', 'matplotlib', 'sklearn', 'pandas', 'pyarrow', 'parselmouth', 'distributed'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
