"""Reads odd files by the command line and as the explorer does, and compares both with other programs.

    odd.py PROGRAM SERVER [PART OF A NAME]
"""

import itertools
import json
import sys
from datetime import datetime
from pathlib import Path

import columnar
import jsons
import numbers_and_dates
import texts
from readers import by_browser, by_command_line

SHOWN = 34


def canonical(rows):
    """Rows as sorted texts; a whole number in a column of reals is one of them."""
    reals = {name for row in rows for name, value in row.items() if has_real(value)}

    def value(name, of):
        if isinstance(of, list):
            return [value(name, member) for member in of]
        if isinstance(of, datetime):
            return ["date", of.isoformat()]
        if isinstance(of, (int, float)) and not isinstance(of, bool):
            return ["real", repr(float(of))] if name in reals else ["whole", of]
        return of

    texts = [json.dumps({name: value(name, row[name]) for name in sorted(row)}) for row in rows]
    return sorted(texts)


def has_real(value):
    return isinstance(value, float) or (isinstance(value, list) and any(map(has_real, value)))


def faults_of(case, outcome):
    """What the outcome has that the oracle has not, or the other way round."""
    faults = []
    if bool(case.refusal) != bool(outcome.refusal) or case.refusal not in outcome.refusal:
        faults.append(f"refusal {outcome.refusal!r}, expected {case.refusal!r}")
    is_same = outcome.bad.keys() == case.bad.keys()
    if not is_same or any(case.bad[line] not in outcome.bad[line] for line in case.bad):
        faults.append(f"refused rows {outcome.bad}, expected {case.bad}")
    found, expected = canonical(outcome.rows), canonical(case.rows)
    if found != expected:
        wrong = [pair for pair in itertools.zip_longest(found, expected) if pair[0] != pair[1]]
        faults.append(f"{len(found)} rows, expected {len(expected)}; {str(wrong[:2])[:600]}")
    if sorted(map(str, outcome.edges)) != sorted(map(str, case.edges)):
        faults.append(f"edges {outcome.edges[:3]}, expected {case.edges[:3]}")
    if not case.refusal and case.says not in outcome.mapping:
        faults.append(f"the draft does not say {case.says!r}: {outcome.mapping[:600]}")
    return faults


def same(one, other):
    """Where the readers differ."""
    differ = [part for part in ("mapping", "bad") if getattr(one, part) != getattr(other, part)]
    differ += ["rows"] if canonical(one.rows) != canonical(other.rows) else []
    if other.refusal not in one.refusal or bool(other.refusal) != bool(one.refusal):
        differ.append(f"refusal: {one.refusal!r} and {other.refusal!r}")
    return differ


def outcome_in_words(outcome):
    if outcome.refusal:
        return "refused" + (f", {len(outcome.rows)} rows" if outcome.rows else "")
    refused = f", {len(outcome.bad)} refused" if outcome.bad else ""
    return f"{len(outcome.rows)} rows{refused}"


def main():
    program, server, *part = sys.argv[1:]
    program = str(Path(program).resolve())
    cases = [*texts.all_inputs(), *numbers_and_dates.all_inputs(), *jsons.all_inputs(), *columnar.all_inputs()]
    cases = [case for case in cases if not part or part[0] in case.name or part[0] in case.files]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), "two inputs of one name"
    failed = 0
    print(f"{'input':<{SHOWN}}  {'oracle':<8} {'expected':<18} {'command line':<18} {'browser':<18} same")
    for at, case in enumerate(cases):
        one = by_command_line(program, server, f"odd_c{at}", case.files, case.mapping)
        other = by_browser(server, f"odd_b{at}", case.files, case.mapping)
        faults = [f"command line: {fault}" for fault in faults_of(case, one)]
        faults += [f"browser: {fault}" for fault in faults_of(case, other)]
        faults += [f"the readers differ: {what}" for what in same(one, other)]
        expected = f"{len(case.rows)} rows" + (f", {len(case.bad)} refused" if case.bad else "")
        expected = "refused" + (f", {len(case.rows)} rows" if case.rows else "") if case.refusal else expected
        words = (expected, outcome_in_words(one), outcome_in_words(other))
        columns = " ".join(f"{word:<18}" for word in words)
        print(f"{case.name:<{SHOWN}}  {case.by:<8} {columns} {'no' if faults else 'yes'}")
        for fault in faults:
            print(f"    FAIL {fault}")
        failed += bool(faults)
    print(f"{len(cases)} inputs, {failed} failed")
    sys.exit(1 if failed or not cases else 0)


main()
