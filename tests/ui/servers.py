"""Servers of their own, for tests that need other options."""

import contextlib
import os
import re
import subprocess
import tempfile

PASSWORD = "correct horse battery"


@contextlib.contextmanager
def server_with_login():
    """A second server, where users log in."""
    with second_server("--set", "auth.enabled=true") as url:
        yield url


@contextlib.contextmanager
def second_server(*options: str):
    """A server with these options, and data of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [os.environ["VARVE_TEST_SERVER"], "serve", "--listen", "127.0.0.1:0", "--data-dir", f"{folder}/data"]
        environment = {**os.environ, "VARVE_ADMIN_PASSWORD": PASSWORD}
        process = subprocess.Popen(
            [*command, *options], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            for line in process.stdout:
                found = re.search(r"serves on (http://[0-9.:]+)", line)
                if found:
                    yield found[1]
                    break
            else:
                raise AssertionError(f"the server with {options} did not start")
        finally:
            process.terminate()
            process.wait()
