"""Models whose costs are known; a copy lies beside the suite of the test."""

import os
import time

grown, calls = [], []


def sleeps(signal, sampling_rate):
    """A third of the duration of the sound."""
    time.sleep(len(signal) / sampling_rate / 30)
    return {"arousal": 0.5}


def warms(signal, sampling_rate):
    """Long for the first call only."""
    time.sleep(0.01 if calls else 0.4)
    calls.append(1)
    return {"arousal": 0.5}


def grows(signal, sampling_rate):
    """By 20 MB a call."""
    grown.append(b"x" * 20_000_000)
    return {"arousal": 0.5}


def fails(signal, sampling_rate):
    """Every third time."""
    calls.append(1)
    if len(calls) % 3 == 0:
        raise ValueError("now and then")
    return {"arousal": 0.5, "transcript": "a b"}


def hangs(signal, sampling_rate):
    """With the longest sound."""
    time.sleep(60 if len(signal) > 1.5 * sampling_rate else 0.001)
    return {"arousal": 0.5}


def dies(signal, sampling_rate):
    os.abort()


def recognises(signal, sampling_rate):
    return {"transcript": "a b"}


def counts_cores(signal, sampling_rate):
    if hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1:
        raise ValueError("several cores")
    return {"arousal": 0.5}
