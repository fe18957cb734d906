"""Odd files of separated values. Cells are texts here; `numbers.py` has the other types."""

import gzip

import zstandard

from inputs import Input, by_csv, plain_mapping

MEGABYTE = 1 << 20
COLUMNS = 5_000
PLAIN = "id,name,town\na1,Ann,Bonn\na2,Bob,Rome\n"
WEST = "id,name,town\na1,Zoë,Köln\na2,naïve – “café”,Orléans €\na3,Ångström,Malmö\n"
EAST = "id,name,town\na1,山田太郎,東京都\na2,佐藤花子,大阪府\na3,ラーメン,ｶﾀｶﾅ\n"


def one(name, text, file="rows.csv", encoding="utf-8", delimiter=",", pack=None, **more):
    """An input that Python's csv module reads."""
    content = text.encode(encoding)
    content = pack(content) if pack else content
    text = text.removeprefix("\ufeff")
    return Input(name, {file: content}, "csv", rows=by_csv(text, delimiter), **more)


def hand(name, content, why, file="rows.csv", **more):
    """An input whose outcome is written by hand."""
    content = content.encode() if isinstance(content, str) else content
    return Input(name, {file: content}, "hand", why=why, **more)


def charsets():
    row = {"name": "TEXT", "town": "TEXT"}
    yield one("plain", PLAIN)
    yield one("UTF-8 with a mark", "\ufeff" + WEST)
    yield one("UTF-16 LE with a mark", "\ufeff" + EAST, encoding="utf-16-le")
    yield one("UTF-16 BE with a mark", "\ufeff" + EAST, encoding="utf-16-be")
    yield hand(
        "UTF-16 LE without a mark",
        WEST.encode("utf-16-le"),
        "nothing says that it is a text",
        refusal="it is binary or in UTF-16",
    )
    utf16 = plain_mapping("rows.csv", more='charset = "utf-16le"', **row)
    yield one("UTF-16 LE without a mark, named", EAST, encoding="utf-16-le", mapping=utf16)
    yield one("Windows-1252, guessed", WEST, encoding="cp1252")
    yield one("Shift-JIS, guessed", EAST, encoding="cp932")
    latin = plain_mapping("rows.csv", more='charset = "latin1"', **row)
    text = WEST.replace("–", "-").replace("“", "'").replace("”", "'").replace("€", "EUR")
    yield one("Latin-1, named", text, encoding="latin-1", mapping=latin)
    shift = plain_mapping("rows.csv", more='charset = "shift_jis"', **row)
    yield hand(
        "UTF-8, named Shift-JIS",
        EAST,
        "the charset has no such characters",
        mapping=shift,
        refusal="no character of Shift_JIS; is `charset` right?",
    )
    yield hand(
        "one row that is not UTF-8",
        b"id,name,town\na1,Ann,Bonn\na2,\xff\xfe,Rome\na3,Cai,Oslo\n",
        "the other rows are read",
        mapping=plain_mapping("rows.csv", **row),
        rows=[
            {"id": "a1", "name": "Ann", "town": "Bonn"},
            {"id": "a3", "name": "Cai", "town": "Oslo"},
        ],
        bad={3: "column 2 is not UTF-8"},
    )


def packed():
    zstd = zstandard.ZstdCompressor()
    halves = WEST.encode().partition(b"a2")
    yield one("gzip", WEST, "rows.csv.gz", pack=gzip.compress)
    yield one("gzip, not named so", WEST, "rows.csv", pack=gzip.compress)
    yield one("zstd", WEST, "rows.csv.zst", pack=zstd.compress)
    several = b"".join(map(gzip.compress, halves))
    yield one("gzip of several members", WEST, "rows.csv.gz", pack=lambda _: several)
    frames = b"".join(map(zstd.compress, halves))
    yield one("zstd of several frames", WEST, "rows.csv.zst", pack=lambda _: frames)
    both = lambda content: gzip.compress(content.decode().encode("cp932"))
    yield one("gzip of Shift-JIS", EAST, "rows.csv.gz", pack=both)
    yield hand(
        "gzip that is cut off",
        gzip.compress(WEST.encode())[:-12],
        "the rest is missing",
        "rows.csv.gz",
        refusal="cannot be unpacked: incomplete deflate stream",
        mapping=plain_mapping("rows.csv.gz", name="TEXT", town="TEXT"),
    )
    broken = bytearray(gzip.compress(WEST.encode()))
    broken[-6] ^= 0xFF
    yield hand("gzip with a wrong sum", bytes(broken), "it is damaged", "rows.csv.gz", refusal="corrupt gzip stream")
    yield hand(
        "named gzip, but plain",
        PLAIN,
        "the content decides",
        "rows.csv.gz",
        rows=by_csv(PLAIN),
    )
    yield hand("a ZIP archive", b"PK\x03\x04" + bytes(64), "it has several files", refusal="it is a ZIP archive")


def separators():
    for mark, name, file in (
        (";", "semicolons", "rows.csv"),
        ("\t", "tabs", "rows.tsv"),
        ("\t", "tabs in .csv", "rows.csv"),
        ("|", "bars", "rows.csv"),
    ):
        yield one(name, PLAIN.replace(",", mark), file, delimiter=mark)
    yield one("commas in .tsv", PLAIN, "rows.tsv")
    text = "id;name;town\na1;Ann, B.;Bonn, NW\na2;Bob, C.;Rome, RM\n"
    yield one("semicolons, with commas in cells", text, delimiter=";")
    yield one("a quoted separator", 'id,name,town\na1,"Ann, B.","Bonn; NW"\na2,Bob,Rome\n')
    yield hand(
        "two separators that fit",
        "id;a\tname;b\na1;x\tAnn;y\na2;z\tBob;w\n",
        "neither is the usual one",
        refusal="its columns may be separated by any of",
    )
    text = "id^name^town\na1^Ann^Bonn\na2^Bob^Rome\n"
    yield hand(
        "an unknown separator",
        text,
        "one column that looks like three",
        refusal="unless '^' separates the columns",
    )
    caret = plain_mapping("rows.csv", more='delimiter = "^"', name="TEXT", town="TEXT")
    yield one("an unknown separator, named", text, delimiter="^", mapping=caret)
    yield hand(
        "a first line sep=;",
        "sep=;\nid;name\na1;Ann, B.\na2;Bob, C.\n",
        "spreadsheets take it for the name of the separator",
        rows=[{"id": "a1", "name": "Ann, B."}, {"id": "a2", "name": "Bob, C."}],
    )


def quotes():
    yield one("doubled quotation marks", 'id,name\na1,"say ""hi"""\na2,""""\na3,"a"",""b"\n')
    yield one("line ends in quotation marks", 'id,name\na1,"two\nlines"\na2,"two\r\nlines"\na3,"two\rlines"\n')
    yield one("a mark within a plain cell", 'id,size\na1,5" wide\na2,7"\n')
    yield one("a quoted header", '"id","first, name"\na1,Ann\na2,Bob\n')
    yield one("spaces before a quoted cell", 'id,name\na1, "Ann"\na2, Bob\n')
    yield one("spaces around values", "id,name\na1, Ann \na2,  \na3,\tBob\n")
    yield hand(
        "text after a closing mark",
        'id,name\na1,"An"n\na2,Bob\n',
        "RFC 4180 has no such cell; Python reads Ann",
        rows=[{"id": "a2", "name": "Bob"}],
        bad={2: "text follows the closing quotation mark"},
    )
    yield hand(
        "a mark that is not closed",
        'id,name\na1,Ann\na2,"Bob\na3,Cai\na4,Dan\n',
        "Python reads the rest as one cell",
        rows=[{"id": "a1", "name": "Ann"}],
        bad={3: "a quotation mark is not closed: the rest of the file, 2 more lines"},
    )


def shapes():
    yield hand(
        "ragged rows",
        "id,name\na1,Ann\na2,Bob,x\na3\na4,Dan\n",
        "a row of another width is no row",
        rows=[{"id": "a1", "name": "Ann"}, {"id": "a4", "name": "Dan"}],
        bad={3: "3 columns, but the header names 2", 4: "1 columns, but the header names 2"},
    )
    yield hand("an empty file", "", "there is no header", refusal="it is empty, without a header")
    yield hand("line ends alone", "\n\n\r\n", "there is no header", refusal="it is empty, without a header")
    yield hand("a header alone", "id,name\n", "there are no rows", rows=[])
    yield hand(
        "a repeated column",
        "id,name,name\na1,Ann,B\na2,Bob,C\n",
        "the second gets a number, as in pandas",
        rows=[
            {"id": "a1", "name": "Ann", "name_2": "B"},
            {"id": "a2", "name": "Bob", "name_2": "C"},
        ],
    )
    yield hand(
        "no header",
        "1,Ann,2020-01-01\n2,Bob,2020-01-02\n",
        "a header has names, not values",
        refusal="its first row should name the columns, but has the value '1'",
    )
    header = plain_mapping("rows.csv", more='header = ["id", "name", "town"]', name="TEXT", town="TEXT")
    text = PLAIN.partition("\n")[2]
    yield Input("no header, named", {"rows.csv": text.encode()}, "csv", rows=by_csv(PLAIN), mapping=header)
    yield one("blank lines", "\nid,name\n\na1,Ann\n\n\na2,Bob\n\n")
    yield hand(
        "a trailing separator in all lines",
        "id,name,\na1,Ann,\na2,Bob,\n",
        "a column without a name and values is ignored",
        rows=[{"id": "a1", "name": "Ann"}, {"id": "a2", "name": "Bob"}],
    )
    yield hand(
        "a trailing separator in the rows",
        "id,name\na1,Ann,\na2,Bob,\n",
        "the rows have one more cell than the header",
        refusal="no row of it can be read; line 2: 3 columns, but the header names 2",
    )
    yield hand(
        "comment lines",
        "# made by hand\n# of two lines\nid,name\na1,Ann\n",
        "CSV has no comments",
        refusal="its first line should name the columns, but is '# made by hand'",
    )
    yield one("CRLF", PLAIN.replace("\n", "\r\n"))
    yield one("CR", PLAIN.replace("\n", "\r"))
    yield one("CRLF and LF", "id,name\r\na1,Ann\na2,Bob\r\na3,Cai\n")
    yield one("no line end at the end", PLAIN.rstrip())
    wide = ["id", *(f"c{at}" for at in range(1, COLUMNS))]
    text = "\n".join([",".join(wide), ",".join(f"v{at}" for at in range(COLUMNS)), ""])
    yield one("5,000 columns", text)
    wide = ",".join(f"c{at}" for at in range(10_001))
    yield hand("10,001 columns", f"{wide}\n{wide}\n", "at most 10,000", refusal="10001 columns, at most 10000")


def values():
    yield one("a cell of a megabyte", f"id,name\na1,{'x' * MEGABYTE}\na2,Bob\n")
    yield hand(
        "NUL in the first line",
        "id,name\na1,A\0n\n",
        "it looks like a binary file",
        refusal="it is binary or in UTF-16",
    )
    filler = "".join(f"b{at},{'y' * 90}\n" for at in range(20))
    yield one("NUL behind the first kilobyte", f"id,name\n{filler}a1,A\0n\n")
    yield one(
        "emoji, combining and right-to-left",
        "id,name\na1,👩‍👩‍👧 🇩🇪\na2,e\u0301 é\na3,שלום\u200f\na4,\u200b\ufeff\na5,𝔘𝔫𝔦\n",
    )
    yield one("control characters", "id,name\na1,a\x01b\x1bc\na2,\x7f\x85\u2028x\n")
    yield one("an empty text and no text", 'id,name,town\na1,"",Bonn\na2,,Rome\na3,x,\n')
    hard = ["a,b", 'say "hi"', "a/b/c", "S1:a>2>>S1:b", "a!b#c", "50%", "a b", "é🎉", "..", "'x'", "a\\b"]
    cell = lambda text: '"' + text.replace('"', '""') + '"'
    rows = "".join(f"{cell(text)},n{at}\n" for at, text in enumerate(hard))
    yield one("ids with marks", f"id,name\n{rows}")
    ends = "".join(f"{cell(text)},{cell(hard[0])}\n" for text in hard)
    files = {"rows.csv": f"id,name\n{rows}".encode(), "links.csv": f"source,target\n{ends}".encode()}
    yield Input(
        "edges between ids with marks",
        files,
        "csv",
        rows=by_csv(f"id,name\n{rows}"),
        edges=[(text, hard[0], {}) for text in hard],
    )
    yield one("an id of 300 bytes", f"id,name\n{'x' * 300},Ann\nb,Bob\n")
    yield hand(
        "an id of 70,000 bytes",
        f"id,name\n{'x' * 70_000},Ann\nb,Bob\n",
        "an id has at most 65,535 bytes",
        rows=[{"id": "b", "name": "Bob"}],
        bad={2: ""},
    )
    yield hand(
        "an index of pandas",
        ",name,town\n0,Ann,Bonn\n1,Bob,Rome\n",
        "it has no name, but values",
        rows=[{"": 0, "name": "Ann", "town": "Bonn"}, {"": 1, "name": "Bob", "town": "Rome"}],
    )
    yield one("long names of columns", f"id,{'n' * 120}\na1,Ann\na2,Bob\n")


def all_inputs():
    for part in (charsets, packed, separators, quotes, shapes, values):
        yield from part()
