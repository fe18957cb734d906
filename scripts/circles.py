#!/usr/bin/env python3
"""Counts the files of a crate that depend on one another in a circle.

A file depends on the files whose items its `use` declarations and its paths name (`crate::…`,
`super::…`, and those that begin with a module that it declares or imports), and on those that it
re-exports. An import of a re-exported item is one of the file that has the item. `mod` declarations
and code for tests do not count.

    scripts/circles.py            check the limits below; exit 1 if a circle is larger
    scripts/circles.py CRATE      print the files of the largest circle and the imports between them
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "crates"

# The most files that one circle may have. In `varve-query` a builder and the operators that it
# builds need one another; in `varve-server` the request, the routes and the state.
LIMITS = {"varve": 19, "varve-bench": 14, "varve-graph": 22, "varve-query": 41, "varve-server": 15}
DEFAULT = 10

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^\\'])'""", re.S
)
TESTS = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]")
PATH = re.compile(r"(?<![\w:])(\w+)((?:\s*::\s*\w+)+)")
USE = re.compile(r"\buse\s+([^;]+);", re.S)
VISIBILITY = re.compile(r"\bpub\s*\([^)]*\)")
INNER = re.compile(r"\bmod\s+\w+\s*\{")
EXPORT = re.compile(r"\bpub\s+use\s+([^;]+);", re.S)


def without_tests(text):
    """The source without comments, literals and items that exist only for tests."""
    text = VISIBILITY.sub("pub ", TOKEN.sub(" ", text))
    parts, at = [], 0
    while match := TESTS.search(text, at):
        parts.append(text[at : match.start()])
        at = end_of_item(text, match.end())
    return inner_modules_flat("".join(parts) + text[at:])


def inner_modules_flat(text):
    """In `mod name { … }` within a file, `super` is the file itself."""
    for match in INNER.finditer(text):
        end = end_of_item(text, match.start())
        inside = re.sub(r"\bsuper\b", "self ", text[match.start() : end])
        text = text[: match.start()] + inside + text[end:]
    return text


def end_of_item(text, at):
    depth = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return at
        elif char == ";" and depth == 0:
            return at
    return at


def names(tree, prefix=()):
    """Each path of a `use` tree and its name: `a::{b, c::d as e}` has (a, b), b and (a, c, d), e."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        tree, _, alias = tree.partition(" as ")
        path = prefix + tuple(part.strip() for part in tree.split("::") if part.strip())
        yield path, alias.strip() or path[-1]
        return
    head = tuple(part.strip() for part in tree[:brace].split("::") if part.strip())
    depth, start = 0, brace + 1
    for at in range(brace, len(tree)):
        char = tree[at]
        depth += (char == "{") - (char == "}")
        if (char == "," and depth == 1) or depth == 0:
            if tree[start:at].strip():
                yield from names(tree[start:at], prefix + head)
            start = at + 1
            if depth == 0:
                return


class Crate:
    def __init__(self, folder):
        self.files = {}
        source = folder / "src"
        for file in sorted(source.rglob("*.rs")):
            parts = file.relative_to(source).with_suffix("").parts
            if file.name in ("lib.rs", "main.rs") and len(parts) == 1:
                parts = ()
            elif file.name == "mod.rs":
                parts = parts[:-1]
            if "tests" not in parts:
                self.files.setdefault(parts, file)
        self.texts = {module: without_tests(file.read_text()) for module, file in self.files.items()}
        self.exports = {
            module: {name: path for use in EXPORT.findall(text) for path, name in names(use)}
            for module, text in self.texts.items()
        }
        self.imports = {module: self.of(module) for module in self.files}

    def of(self, module):
        """The modules that this one imports, each with a path by which it does."""
        text = self.texts[module]
        imported = [each for use in USE.findall(text) for each in names(use)]
        paths = [path for path, _ in imported]
        modules = {head: (head,) for head in ("crate", "super", "self")}
        for each in self.files:
            if each and each[:-1] == module:
                modules[each[-1]] = ("crate", *each)
        for path, name in imported:
            if path[-1] == "self":
                path, name = path[:-1], path[-2] if name == "self" else name
            if path and self.module(module, path):
                modules[name] = path
        for head, tail in PATH.findall(USE.sub(" ", text)):
            if head in modules:
                rest = (part.strip() for part in tail.split("::") if part.strip())
                paths.append((*modules[head], *rest))
        found = {}
        for path in paths:
            target = self.target(module, path)
            if target is not None and target != module:
                found.setdefault(target, "::".join(path))
        return found

    def module(self, module, path):
        """Whether this path names a module."""
        at, rest = self.walk(module, path)
        return at in self.files and not rest

    def walk(self, module, path):
        """The last module that a path goes through, and the rest of the path."""
        at, rest = None, list(path)
        while rest and rest[0] in ("crate", "super", "self"):
            head = rest.pop(0)
            at = () if head == "crate" else module if at is None else at
            if head == "super":
                at = at[:-1]
        if at is None:
            # The path begins with a child of the module, as in `pub use child::Item`.
            if not rest or module + (rest[0],) not in self.files:
                return None, rest
            at = module
        while rest and at + (rest[0],) in self.files:
            at += (rest.pop(0),)
        return at, rest

    def target(self, module, path):
        """The module that has the item of this path; None if it is of another crate."""
        at, rest = self.walk(module, path)
        exported = self.exports.get(at, {}).get(rest[0]) if rest else None
        if exported and exported != tuple(rest):
            return self.target(at, exported)
        return at if at in self.files else None

    def largest(self):
        """The largest set of files each of which depends on each other one (Tarjan)."""
        sys.setrecursionlimit(10000)
        order, low, stack, best = {}, {}, [], []

        def visit(node):
            nonlocal best
            order[node] = low[node] = len(order)
            stack.append(node)
            for other in self.imports[node]:
                if other not in order:
                    visit(other)
                    low[node] = min(low[node], low[other])
                elif other in stack:
                    low[node] = min(low[node], order[other])
            if low[node] == order[node]:
                at = stack.index(node)
                if len(stack) - at > len(best):
                    best = stack[at:]
                del stack[at:]

        for node in self.files:
            if node not in order:
                visit(node)
        return sorted(best)


def crates():
    return {path.parent.name: path.parent for path in sorted(ROOT.rglob("Cargo.toml"))}


def main():
    if len(sys.argv) > 1:
        crate = Crate(crates()[sys.argv[1]])
        circle = set(crate.largest())
        for module in sorted(circle):
            print("::".join(module) or "lib")
            for other, path in sorted(crate.imports[module].items()):
                if other in circle:
                    print("    ", "::".join(other) or "lib", " by ", path)
        print(len(circle), "of", len(crate.files))
        return
    failed = []
    for name, folder in crates().items():
        crate = Crate(folder)
        size, limit = len(crate.largest()), LIMITS.get(name, DEFAULT)
        print(f"{name}: {size} of {len(crate.files)} files")
        if size > limit:
            failed.append(f"circles: {name} has a circle of {size} files, the limit is {limit}")
    if failed:
        failed.append("circles: `scripts/circles.py CRATE` prints the imports that make a circle")
        sys.exit("\n".join(failed))


main()
