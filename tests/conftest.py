"""What every test shares: steady hypothesis runs and a Jupyter that keeps out of the user's own folders."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import settings

# The same examples each time, and no deadline: a busy machine is not a bug.
settings.register_profile("steady", derandomize=True, deadline=None, database=None)
settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def _jupyter_folders_of_its_own(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jupyter")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(name, str(folder / name.lower()))
        yield


@pytest.fixture(autouse=True)
def _asyncio_as_it_was():
    """Fail the test that leaves asyncio patched, instead of a later one that cannot know why."""
    run = asyncio.run
    yield
    assert asyncio.run is run, "nesting patches asyncio for good: run this test in a process of its own"
