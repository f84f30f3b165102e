"""What is public is listed, sorted and there; the exceptions are as errors.py draws them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from types import ModuleType

import pytest

import agentctx_nb
from agentctx_nb import errors

OWN = [
    name
    for _, name, _ in pkgutil.walk_packages(agentctx_nb.__path__, "agentctx_nb.")
    if not name.startswith("agentctx_nb.notebook")
]


def in_order(names):
    """Sort as ruff does: constants, classes, the rest."""
    return sorted(names, key=lambda name: (0 if name.isupper() else 1 if name[0].isupper() else 2, name))


def test_all_of_the_package_is_sorted_and_equals_what_is_there():
    there = {
        name
        for name, value in vars(agentctx_nb).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    listed = [name for name in agentctx_nb.__all__ if name != "__version__"]
    assert listed == in_order(listed)
    assert {name for name in listed if not hasattr(agentctx_nb, name)} == set()
    imported_late = {"Action", "ActionResult"}
    assert set(listed) - imported_late == there - imported_late - {"annotations", "Any", "TYPE_CHECKING"}


@pytest.mark.parametrize("name", ["agentctx_nb", *OWN])
def test_all_of_each_module_is_sorted_and_names_what_exists(name):
    module = importlib.import_module(name)
    listed = list(getattr(module, "__all__", []))
    assert listed == in_order(listed)
    assert [public for public in listed if not hasattr(module, public)] == []


@pytest.mark.parametrize("name", ["agentctx_nb", *OWN])
def test_every_module_and_every_public_thing_says_what_it_is_for(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for public in getattr(module, "__all__", []):
        thing = getattr(module, public)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), f"{name}.{public} has no docstring"


def drawn_parents(docstring):
    """Read the tree in the docstring: each name with the name it hangs from."""
    stack, parents = [], {}
    for line in docstring.splitlines():
        drawn = re.match(r"((?:│   |    )*)(?:[├└]── )?([A-Z]\w+)( |$)", line)
        if drawn and ("──" in line or not stack):
            depth = len(drawn[1]) // 4 + ("──" in line)
            if depth == 0 and not drawn[2].endswith("Error"):
                continue
            stack[depth:] = [drawn[2]]
            parents[drawn[2]] = stack[depth - 1] if depth else None
    return parents


def test_the_exception_tree_in_the_docstring_is_the_real_one():
    classes = [
        thing
        for thing in vars(errors).values()
        if inspect.isclass(thing) and issubclass(thing, errors.AgentCtxError)
    ]
    real = {
        thing.__name__: None if thing is errors.AgentCtxError else thing.__bases__[0].__name__
        for thing in classes
    }
    assert drawn_parents(errors.__doc__) == real


def test_the_builtin_kind_named_in_the_docstring_is_a_base_of_the_class():
    named = re.findall(r"── (\w+) .*\((\w+Error)\)", errors.__doc__)
    assert len(named) >= 5
    for name, builtin in named:
        assert builtin in {base.__name__ for base in getattr(errors, name).__mro__}
