"""Odd Parquet and Arrow files. pyarrow says what is in them."""

import base64
import io
import uuid
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from inputs import Input, plain_mapping

DOUBLE_DIGITS = 15
FIRST = datetime(2021, 4, 3, 12, 30, 1, 123456)


def value_of(value):
    """A value as a property has it."""
    match value:
        case list():
            return [value_of(member) for member in value]
        case bytes():
            return base64.b64encode(value).decode()
        case uuid.UUID():
            return str(value)
        case Decimal():
            return of_decimal(value)
        case datetime():
            at = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
            at = at.astimezone(timezone.utc)
            return at.replace(microsecond=at.microsecond // 1000 * 1000)
        case date():
            return datetime(value.year, value.month, value.day, tzinfo=timezone.utc)
        case _:
            return value


def of_decimal(value):
    """A whole number, a double that has all digits, or a text."""
    value = value.normalize()
    if value == value.to_integral_value() and abs(value) < 2**63:
        return int(value)
    is_short = len(value.as_tuple().digits) <= DOUBLE_DIGITS
    return float(value) if is_short else format(value, "f")


def by_pyarrow(table, ignored=()):
    names = [name for name in table.column_names if name not in ignored]
    return [
        {name: value_of(row[name]) for name in names if row[name] is not None}
        for row in table.select(names).to_pylist()
    ]


def parquet_of(table, **options):
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink, **options)
    return sink.getvalue()


def arrow_of(table, stream=False, **options):
    sink = io.BytesIO()
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def table_of(**columns):
    length = len(next(iter(columns.values())))
    return pa.table({"id": [f"a{at}" for at in range(length)], **columns})


def both(name, table, ignored=(), parquet=True, **more):
    """The table in both formats; Parquet has some types in its own way."""
    rows = by_pyarrow(table, ignored)
    if parquet:
        yield Input(f"Parquet, {name}", {"rows.parquet": parquet_of(table)}, "pyarrow", rows, **more)
    yield Input(f"Arrow, {name}", {"rows.arrow": arrow_of(table)}, "pyarrow", rows, **more)


def parquet(name, table, content=None, ignored=(), **options):
    """The table in Parquet, written with options."""
    content = content or parquet_of(table, **options)
    read = pa.parquet.read_table(io.BytesIO(content))
    return Input(f"Parquet, {name}", {"rows.parquet": content}, "pyarrow", by_pyarrow(read, ignored))


def arrow(name, table, file="rows.arrow", **options):
    return Input(f"Arrow, {name}", {file: arrow_of(table, **options)}, "pyarrow", by_pyarrow(table))


def hand(name, file, content, why, **more):
    return Input(name, {file: content}, "hand", why=why, **more)


def numbers():
    for bits in (8, 16, 32, 64):
        least, greatest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        signed = getattr(pa, f"int{bits}")()
        yield from both(f"int{bits}", table_of(n=pa.array([least, greatest, None], signed)))
    for bits in (8, 16, 32):
        unsigned = getattr(pa, f"uint{bits}")()
        yield from both(f"uint{bits}", table_of(n=pa.array([0, 2**bits - 1, None], unsigned)))
    yield from both("uint64 that a LONG holds", table_of(n=pa.array([0, 2**63 - 1], pa.uint64())))
    great = table_of(n=pa.array([1, 2**64 - 1], pa.uint64()))
    rows = [{"id": "a0", "n": "1"}, {"id": "a1", "n": str(2**64 - 1)}]
    for file, content in (("rows.parquet", parquet_of(great)), ("rows.arrow", arrow_of(great))):
        yield hand(f"uint64 that no LONG holds, {file}", file, content, "a text has all digits", rows=rows)
    reals = [1.5, -0.0, float("nan"), float("inf"), float("-inf"), None]
    yield from both("float64", table_of(n=pa.array([*reals, 1e308, 5e-324], pa.float64())))
    single = pa.array([0.5, 1 / 3, 3.4e38, None], pa.float32())
    rows = [{"id": "a0", "n": 0.5}, {"id": "a1", "n": 0.33333334}, {"id": "a2", "n": 3.4e38}, {"id": "a3"}]
    yield hand("Parquet, float32", "rows.parquet", parquet_of(table_of(n=single)), "the fewest digits", rows=rows)
    yield from both("float16", table_of(n=pa.array([0.5, -2.0, 65504.0, None], pa.float16())))
    yield from both("bool", table_of(b=pa.array([True, False, None])))


def decimals():
    short = [Decimal("1.50"), Decimal("-0.25"), None]
    whole = [Decimal("12"), Decimal("-5"), None]
    long = [Decimal("1234567890123456.25"), Decimal("0.10"), None]
    for name, values, kind in (
        ("decimal of 10 digits", short, pa.decimal128(10, 2)),
        ("decimal of 38 digits, whole", whole, pa.decimal128(38, 0)),
        ("decimal32", short, pa.decimal32(9, 2)),
        ("decimal64", short, pa.decimal64(18, 2)),
        ("decimal256", short, pa.decimal256(50, 2)),
    ):
        yield from both(name, table_of(n=pa.array(values, kind)))
    table = table_of(n=pa.array(long, pa.decimal128(20, 2)))
    rows = [{"id": "a0", "n": "1234567890123456.25"}, {"id": "a1", "n": "0.1"}, {"id": "a2"}]
    yield hand("Parquet, decimal that no double holds", "rows.parquet", parquet_of(table), "texts", rows=rows)


def instants():
    days = [date(2021, 4, 3), date(1969, 12, 31), date(1, 1, 1), date(9999, 12, 31), None]
    yield from both("date32", table_of(at=pa.array(days, pa.date32())))
    yield from both("date64", table_of(at=pa.array(days, pa.date64())))
    times = [FIRST, datetime(1969, 12, 31, 23, 59, 59, 999999), None]
    ends = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)]
    yield from both("first and last instants", table_of(at=pa.array(ends, pa.timestamp("us", "UTC"))))
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC", "Asia/Kolkata", "+05:30"):
            array = pa.array(times, pa.timestamp("us")).cast(pa.timestamp(unit, zone), safe=False)
            yield from both(f"timestamp {unit} {zone or 'without zone'}", table_of(at=array))
    yield parquet(
        "INT96",
        table_of(at=pa.array(times[:1], pa.timestamp("ns"))),
        use_deprecated_int96_timestamps=True,
    )
    far = table_of(at=pa.array([2**62], pa.timestamp("s")))
    yield hand("Arrow, an instant of no year", "rows.arrow", arrow_of(far), "out of range",
               mapping=plain_mapping("rows.arrow", at="DATE"), bad={1: "column 'at': the instant"})


def no_properties():
    """Types that no property has: a draft ignores them, a mapping must."""
    for name, array in (
        ("time32", pa.array([time(12, 30), None], pa.time32("ms"))),
        ("time64", pa.array([time(12, 30, 1, 5), None], pa.time64("us"))),
        ("duration", pa.array([timedelta(seconds=5), None], pa.duration("us"))),
        ("map", pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64()))),
        ("struct", pa.array([{"x": 1}, None], pa.struct([("x", pa.int64())]))),
        ("list of structs", pa.array([[{"x": 1}], None])),
        ("list of lists", pa.array([[[1], [2]], None])),
    ):
        yield from both(name, table_of(v=array, s=["x", "y"]), ignored=("v",), says='ignore = ["v"]')
    table = table_of(v=pa.array([time(12, 30), None], pa.time32("ms")))
    message = "column 'v' has the type Time32(ms), which is not read; name it in `ignore`"
    yield hand("Parquet, time32 in a mapping", "rows.parquet", parquet_of(table), "no property has it",
               mapping=plain_mapping("rows.parquet", v="TEXT"), refusal=message)
    union = pa.UnionArray.from_sparse(
        pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])]
    )
    yield from both("union", table_of(v=union, s=["x", "y"]), ("v",), False, says='ignore = ["v"]')


def texts_and_bytes():
    words = ["Ann", "", "é\0🎉", None]
    for name, kind in (("string", pa.string()), ("large_string", pa.large_string())):
        yield from both(name, table_of(t=pa.array(words, kind)))
    yield from both("string_view", table_of(t=pa.array(words, pa.string_view())))
    raw = [b"\x00\xff", b"", None]
    yield from both("binary", table_of(b=pa.array(raw, pa.binary())))
    yield from both("large_binary", table_of(b=pa.array(raw, pa.large_binary())))
    yield from both("binary of 3 bytes", table_of(b=pa.array([b"abc", None], pa.binary(3))))
    yield from both("uuid", table_of(u=pa.array([uuid.UUID(int=5).bytes, None], pa.uuid())))
    yield from both("dictionary", table_of(t=pa.array([*words, "Ann"]).dictionary_encode()))
    yield from both("dictionary of numbers", table_of(n=pa.array([7, 8, 7, None]).dictionary_encode()))
    yield from both("null", table_of(v=pa.nulls(2)))
    odd = table_of(**{"a b": [1], "ä": [2], "x.y": [3], "q'\"": [4]})
    yield from both("odd names of columns", odd)


def lists():
    words = [["x", "y"], [], None, ["z"]]
    for name, kind in (("list", pa.list_), ("large_list", pa.large_list)):
        yield from both(f"{name} of texts", table_of(t=pa.array(words, kind(pa.string()))))
    yield from both("list of numbers", table_of(n=pa.array([[1, 2], [], None], pa.list_(pa.int64()))))
    yield from both("list of 2", table_of(n=pa.array([[1, 2], None], pa.list_(pa.int64(), 2))))
    days = [[date(2021, 4, 3)], None]
    yield from both("list of dates", table_of(at=pa.array(days, pa.list_(pa.date32()))))
    yield from both("list_view", table_of(t=pa.array(words, pa.list_view(pa.string()))), parquet=False)


def layouts():
    many = table_of(
        n=list(range(5_000)), t=[f"t{at % 7}" for at in range(5_000)], r=[at / 8 for at in range(5_000)]
    )
    yield parquet("several groups of rows", many, row_group_size=700)
    for packing in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
        yield parquet(f"{packing} pages", many, compression=packing)
    yield parquet("pages of version 2", many, data_page_version="2.0", data_page_size=1_000)
    yield parquet("form 1.0", many, version="1.0")
    delta = {"n": "DELTA_BINARY_PACKED", "t": "DELTA_BYTE_ARRAY", "r": "BYTE_STREAM_SPLIT", "id": "DELTA_LENGTH_BYTE_ARRAY"}
    yield parquet("delta encodings", many, use_dictionary=False, column_encoding=delta)
    yield parquet("no rows", many.slice(0, 0))
    frame = polars.DataFrame({"id": ["a", "b"], "at": [FIRST, None], "t": ["x", "y"], "l": [[1, 2], None]})
    for name, write in (("Parquet", frame.write_parquet), ("Arrow", frame.write_ipc)):
        sink = io.BytesIO()
        write(sink)
        file = f"rows.{name.lower()}"
        rows = [{k: value_of(v) for k, v in row.items() if v is not None} for row in frame.to_dicts()]
        yield Input(f"{name} of polars", {file: sink.getvalue()}, "polars", rows)
    yield arrow("stream", many, stream=True)
    yield arrow("stream in .arrows", many, "rows.arrows", stream=True)
    for packing in ("lz4", "zstd"):
        yield arrow(f"{packing} buffers", many, compression=packing)
        yield arrow(f"stream of {packing} buffers", many, stream=True, compression=packing)
    sink = io.BytesIO()
    pa.feather.write_feather(many, sink)
    yield Input("Feather 2", {"rows.feather": sink.getvalue()}, "pyarrow", by_pyarrow(many))
    first, second = pa.array(["x", "y"]).dictionary_encode(), pa.array(["y", "z"]).dictionary_encode()
    batches = [pa.record_batch({"id": [f"a{at}", f"b{at}"], "t": each}) for at, each in enumerate((first, second))]
    changing = pa.Table.from_batches(batches)
    yield arrow("dictionaries that change", changing, stream=True)


def damage():
    table = table_of(n=list(range(1_000)))
    content = parquet_of(table)
    for name, file, content, message in (
        ("Parquet, cut off", "rows.parquet", content[:-20], ""),
        ("Parquet, its half", "rows.parquet", content[: len(content) // 2], ""),
        ("Parquet, a wrong magic", "rows.parquet", b"PAR2" + content[4:], "it is not a Parquet file"),
        ("Parquet, a text", "rows.parquet", b"id,n\na,1\n", "it is not a Parquet file"),
        ("Parquet, encrypted", "rows.parquet", b"PARE" + content[4:-4] + b"PARE", "it is not a Parquet file"),
        ("Parquet, nothing", "rows.parquet", b"", "it is not a Parquet file"),
        ("Arrow, cut off", "rows.arrow", arrow_of(table)[:-20], ""),
        ("Arrow, a text", "rows.arrow", b"id,n\na,1\n", "it is not Arrow IPC"),
        ("Arrow, nothing", "rows.arrow", b"", "it is not Arrow IPC"),
        ("Feather 1", "rows.feather", b"FEA1" + bytes(40) + b"FEA1", "it is not Arrow IPC"),
    ):
        yield hand(name, file, content, "it is damaged or something else", refusal=message or ":")
    stream = arrow_of(table.slice(0, 500), stream=True)[:-300]
    yield hand("Arrow, a stream cut off", "rows.arrow", stream, "the batch is not whole", refusal=":",
               mapping=plain_mapping("rows.arrow", n="LONG"))


def all_inputs():
    for part in (numbers, decimals, instants, no_properties, texts_and_bytes, lists, layouts, damage):
        yield from part()
