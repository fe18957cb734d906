"""What an input is: its files, what another program reads from them, or what must refuse them."""

import csv
import io
from dataclasses import dataclass, field

csv.field_size_limit(1 << 30)


@dataclass
class Input:
    """An odd input. `by` names the oracle; `hand` says why, in `why`."""

    name: str
    files: dict
    by: str
    rows: list = field(default_factory=list)
    refusal: str = ""
    bad: dict = field(default_factory=dict)
    mapping: str = ""
    edges: list = field(default_factory=list)
    says: str = ""
    why: str = ""


def by_csv(text, delimiter=","):
    """The rows as Python's csv module reads them; an empty cell is no value."""
    cells = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names, *rows = [row for row in cells if row]
    return [{name: cell for name, cell in zip(names, row) if cell} for row in rows]


def plain_mapping(file, id_type="CUSTOMIZE_STRING", more="", **types):
    """A mapping of one file with an `id` and properties of these types."""
    keys = [f'{{ name = "{name}", data_type = "{kind}" }}' for name, kind in types.items()]
    names = ", ".join(f'"{name}"' for name in types)
    return f"""[[vertex]]
file = "{file}"
label = "row"
id = "id"
{more}
[schema]
propertykeys = [{", ".join(keys)}]
vertexlabels = [{{ name = "row", id_strategy = "{id_type}", properties = [{names}], nullable_keys = [{names}] }}]
edgelabels = []
"""
