"""Columns of numbers, dates, truth values and words for no value in files of separated values."""

from datetime import datetime, timedelta, timezone

from inputs import Input, plain_mapping

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def day(year, month, of, *time):
    return datetime(year, month, of, *time, tzinfo=timezone.utc)


def column(name, cells, values, why="", head="v", mapping="", delimiter=",", **more):
    """An input with an id and one column; `values` are those of the cells, `None` for no value."""
    lines = [f"id{delimiter}{head}", *(f"a{at}{delimiter}{cell}" for at, cell in enumerate(cells))]
    text = "\n".join([*lines, ""])
    rows = [{"id": f"a{at}", head: value} for at, value in enumerate(values)]
    rows = [{key: value for key, value in row.items() if value is not None} for row in rows]
    bad = more.get("bad", {})
    rows = [row for at, row in enumerate(rows) if at + 2 not in bad]
    return Input(name, {"rows.csv": text.encode()}, "hand", rows, mapping=mapping, why=why, **more)


def typed(kind, more=""):
    return plain_mapping("rows.csv", more=more, v=kind)


def same(name, cells, why, **more):
    """A column whose cells stay texts."""
    return column(name, cells, cells, why, **more)


def numbers():
    yield column("whole numbers", ["1", "-2", "0"], [1, -2, 0])
    yield column("fractions", ["1.5", "-.25", "3", "0.0"], [1.5, -0.25, 3.0, 0.0])
    yield column(
        "limits of 64 bits",
        ["9223372036854775807", "-9223372036854775808"],
        [2**63 - 1, -(2**63)],
    )
    yield same("over 64 bits", ["9223372036854775808", "1"], "a LONG does not hold it")
    yield same("under 64 bits", ["-9223372036854775809", "1"], "a LONG does not hold it")
    yield column(
        "over 64 bits, as LONG",
        ["9223372036854775808", "1"],
        [None, 1],
        "a LONG does not hold it",
        mapping=typed("LONG"),
        bad={2: "'9223372036854775808' is not a whole number"},
    )
    yield column("limits of 32 bits", ["2147483647", "2147483648"], [2**31 - 1, 2**31])
    yield column(
        "over 32 bits, as INT",
        ["2147483647", "2147483648"],
        [2**31 - 1, None],
        "an INT does not hold it",
        mapping=typed("INT"),
        bad={3: "2147483648"},
    )
    yield same("53 bits and a fraction", ["9007199254740993", "0.5"], "a DOUBLE has no such number")
    yield column("1,234.56", ['"1,234.56"', '"7.5"'], ["1,234.56", "7.5"], "pandas reads a text, too")
    yield same("1.234,56", ["1.234,56", "7,5"], "a point and a comma: a text", delimiter=";")
    yield column("decimal commas", ["1,5", "-2,25", "3"], [1.5, -2.25, 3.0], delimiter=";")
    yield same("1,250", ["1,250", "2,500"], "it may be 1250", delimiter=";", says="may be a decimal one")
    yield column("exponents", ["1.0e308", "2.5E-5", "-1e+3"], [1e308, 2.5e-5, -1e3], "as in pandas and polars")
    yield same("1e5", ["1e5", "2e6"], "it may be a code")
    yield same("1e+400", ["1e+400", "1"], "a DOUBLE does not hold it")
    yield column(
        "1e400, as DOUBLE",
        ["1e400", "1e308"],
        [None, 1e308],
        "a DOUBLE does not hold it",
        mapping=typed("DOUBLE"),
        bad={2: "'1e400' is not a number"},
    )
    yield column("5e-324 and 1e-400", ["5e-324", "1e-400"], [5e-324, 0.0], "nearest", mapping=typed("DOUBLE"))
    yield column("-0.0", ["-0.0", "1.5"], [-0.0, 1.5])
    yield same("-0", ["-0", "1"], "it is not written as a whole number is")
    words = ["NaN", "inf", "-Infinity", "1"]
    reals = [float("nan"), float("inf"), float("-inf"), 1.0]
    yield column("NaN and inf among numbers", words, reals, "as in polars")
    yield same("NaN and inf alone", words[:3], "words")
    yield column("NaN and inf, as DOUBLE", words, reals, mapping=typed("DOUBLE"))
    yield same("leading zeros", ["007", "042", "100"], "codes")
    yield same("a plus sign", ["+5", "+491701234567"], "telephone numbers")
    yield same("hexadecimal", ["0x1F", "0xff"], "codes")
    yield same("digits with _ and '", ["1_000", "1'000"], "no usual number")
    yield same("percent and money", ["5%", "$5", "5 €"], "no numbers")
    yield same("fullwidth digits", ["１２", "３"], "no ASCII digits")
    yield column("spaces around numbers", [" 1", "2 ", " 3 "], [1, 2, 3], "pandas reads numbers, too")
    yield same("a word among numbers", ["1", "2", "x"], "the draft names the row", says="line 4 has 'x'")


def no_values():
    yield column("NULL, \\N and N/A", ["1", "NULL", "\\N", "N/A", "", "5"], [1, None, None, None, None, 5])
    yield column("NA and - among numbers", ["1", "NA", "-", "None", "5"], [1, None, None, None, 5])
    yield same("NA and - among texts", ["Ann", "NA", "-"], "names: Namibia is NA")
    yield column("NULL among texts", ["Ann", "NULL", "null"], ["Ann", None, None])
    yield column(
        "words named by the mapping",
        ["Ann", "-", "?", ""],
        ["Ann", None, None, ""],
        "the mapping says which",
        mapping=typed("TEXT", 'null = ["-", "?"]'),
    )
    yield column("true and false", ["true", "FALSE", "True"], [True, False, True])
    yield same("yes and no", ["yes", "no", "Y"], "words")
    yield column("1 and 0", ["1", "0"], [1, 0])
    yield column(
        "yes, as BOOLEAN",
        ["yes", "true"],
        [None, True],
        "true and false alone are truth values",
        mapping=typed("BOOLEAN"),
        bad={2: "'yes' is not true or false"},
    )


def dates():
    first, last = day(2021, 4, 3), day(2021, 4, 25)
    for cells in (
        ["2021-04-03", "2021-04-25"],
        ["03.04.2021", "25.04.2021"],
        ["3/4/2021", "25/4/2021"],
        ["04/03/2021", "04/25/2021"],
        ["2021/04/03", "2021/04/25"],
        ["3 Apr 2021", "25 Apr 2021"],
        ["03-Apr-2021", "25-Apr-2021"],
        ["April 3, 2021", "April 25, 2021"],
        ["2021-04-03 00:00:00", "2021-04-25 00:00:00.000"],
        ["2021-04-03T00:00:00Z", "2021-04-25T00:00:00Z"],
    ):
        cells = [f'"{cell}"' if "," in cell else cell for cell in cells]
        yield column(f"dates as {cells[0]}", cells, [first, last])
    yield column(
        "dates as 03/04/2021 alone",
        ["03/04/2021", "05/06/2021"],
        [day(2021, 4, 3), day(2021, 6, 5)],
        "the day is taken, and the draft says so",
        says="with the day or with the month first: the day is taken",
    )
    yield column(
        "03/04/2021, month first",
        ["03/04/2021", "12/31/2021", "31/12/2021"],
        [day(2021, 3, 4), day(2021, 12, 31), None],
        mapping=typed("DATE", 'date_format = "month_day_year"'),
        bad={4: "'31/12/2021' is not a date of the form MM/dd/yyyy"},
    )
    yield same("day first and month first", ["25/04/2021", "04/25/2021"], "they contradict", says="the day first")
    yield column("dates in two formats", ["2021-04-03", "25.04.2021"], [first, last])
    yield same("29 Feb 2021", ["2020-02-29", "2021-02-29", "2024-02-29"], "2021 has no such day", says="line 3 has '2021-02-29'")
    yield column(
        "29 Feb 2021, as DATE",
        ["2020-02-29", "2021-02-29"],
        [day(2020, 2, 29), None],
        "2021 has no such day",
        mapping=typed("DATE"),
        bad={3: "'2021-02-29' is not a date"},
    )
    yield column(
        "times with zones",
        ["2021-04-03T05:30:00+05:30", "2021-04-24T20:00:00-04:00", "2021-04-03T00:00:00.123456789Z"],
        [first, last, first + timedelta(milliseconds=123)],
        "a DATE has milliseconds",
    )
    yield column("years 1 and 9999", ["0001-01-01", "9999-12-31"], [day(1, 1, 1), day(9999, 12, 31)])
    yield column(
        "31.12.9999 and 9999/12/31",
        ["31.12.9999", "9999/12/31 23:59:59"],
        [day(9999, 12, 31), day(9999, 12, 31, 23, 59, 59)],
        "the last day that a DATE has",
    )
    yield same("years of two digits", ["03.04.21", "25.04.21"], "no century")
    yield column("yyyyMMdd", ["20210403", "20210425"], [20210403, 20210425], "whole numbers")
    yield column("yyyyMMdd, as DATE", ["20210403", "20210425"], [first, last], mapping=typed("DATE"))
    seconds = [1617408000, 1619308800]
    yield column("seconds since 1970", map(str, seconds), seconds, "whole numbers", head="n")
    yield column(
        "seconds since 1970, named",
        map(str, seconds),
        [first, last],
        mapping=typed("DATE", 'date_format = "epoch_seconds"'),
    )
    millis = [second * 1000 for second in seconds]
    yield column("milliseconds since 1970", map(str, millis), millis, "whole numbers", head="n")
    yield column("milliseconds in created_at", map(str, millis), [first, last], "the name says so", head="created_at")
    yield same("times of day", ["12:30", "23:59:59"], "no property has this type")
    yield column("dates, some empty", ["2021-04-03", "", "NULL"], [first, None, None])


def lists():
    yield column(
        "lists in cells",
        ["x;y", "[x; y]", "", "z"],
        [["x", "y"], ["x", "y"], None, ["z"]],
        "members are separated by `list_separator`",
        mapping=plain_mapping("rows.csv", v="TEXT").replace('"TEXT"', '"TEXT", cardinality = "LIST"'),
    )
    yield column(
        "lists of numbers in cells",
        ["1;2", "3;x"],
        [[1, 2], None],
        mapping=plain_mapping("rows.csv", v="LONG").replace('"LONG"', '"LONG", cardinality = "SET"'),
        bad={3: "'x' is not a whole number"},
    )


def all_inputs():
    for part in (numbers, no_values, dates, lists):
        yield from part()
