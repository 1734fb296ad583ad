"""Tests that calls fail in a process forked after bochner was used, and work if forked before."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")

PROGRAM = """
import os
import sys
import numpy as np
from bochner import RBFSampler

X = np.random.RandomState(0).normal(size=(500, 4))

def work():
    return RBFSampler(n_components=64, random_state=0, device="cpu").fit(X).transform(X)

if sys.argv[1] == "after":
    work()
child = os.fork()
if child == 0:
    try:
        work()
    except RuntimeError as error:
        os._exit(2 if "was forked" in str(error) else 3)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize(("when", "status"), [("after", 2), ("before", 0)])
def test_forks_of_processes_that_have_worked_raise(when, status):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, when]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    assert said.split() == [str(status)]
