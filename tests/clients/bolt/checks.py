"""Checks that count, for the scripts beside this one."""

import sys

counts = {"passed": 0, "failed": 0}


def check(name, got, wanted):
    """Counts whether a value is the wanted one."""
    if got == wanted:
        counts["passed"] += 1
    else:
        fail(f"{name}: {got!r:.300}, not {wanted!r:.300}")


def fail(why):
    """Counts and prints a failure."""
    counts["failed"] += 1
    print(f"FAILED {why}")


def finish(client):
    """Prints 'N passed, N failed' and ends the script: with 1 if a check failed."""
    print(f"{client}: {counts['passed']} passed, {counts['failed']} failed")
    sys.exit(counts["failed"] > 0)
