"""The crash points of the product, found in its source: a new one is found without being told of."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("exports", "reconciliation")


def all_points() -> set[str]:
    """Return the name of every crash point."""
    return {name for path in _sources() for name in _points_of(ast.parse(path.read_text()))}


def _sources() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((PROJECT / package).rglob("*.py"))


def _points_of(tree: ast.Module) -> Iterator[str]:
    if not _imports_reach(tree):
        return  # another function of that name
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for call in _calls(function, "reach"):
                yield from _names(call.args[0], tree)


def _imports_reach(tree: ast.Module) -> bool:
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return any(node.module == "exports.crashpoints" for node in imports)


def _names(argument: ast.expr, tree: ast.Module) -> Iterator[str]:
    """Return what a point is called: its literal, or one name for each literal its function is called with."""
    if isinstance(argument, ast.Constant):
        yield str(argument.value)
        return
    assert isinstance(argument, ast.JoinedStr), "a point's name is a literal or made from one"
    parameter, end = argument.values
    assert isinstance(parameter, ast.FormattedValue)
    assert isinstance(parameter.value, ast.Name)
    assert isinstance(end, ast.Constant)
    assert isinstance(end.value, str)
    yield from (f"{start}{end.value}" for start in _literals_for(parameter.value.id, tree))


def _literals_for(parameter: str, tree: ast.Module) -> Iterator[str]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and parameter in (names := [a.arg for a in function.args.args]):
            place = names.index(parameter) - (names[0] == "self")
            for call in _calls(tree, function.name):
                value = call.args[place]
                assert isinstance(value, ast.Constant), f"{function.name} is called with a point that is no literal"
                yield str(value.value)


def _calls(within: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(within):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if called == name:
                yield node
