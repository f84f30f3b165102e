"""What tests of views share: providers that give or raise, and that no form of a view does any harm."""

from __future__ import annotations

from tests.hostile import LARGEST, problems


def adds(runtime, name, result=None, **fields):
    """Register a provider that gives ``result``: as it is, called, or raised."""

    def get():
        if isinstance(result, BaseException):
            raise result
        return result() if callable(result) else result

    runtime.register_provider({"name": name, "get": get, **fields})


def harmless(view):
    """Look at a view in its three forms: each is safe, none is large, and it is the same the second time."""
    bundle = view._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/markdown", "text/html"]
    assert {kind: problems(form, kind) for kind, form in bundle.items()} == {kind: [] for kind in bundle}
    assert sum(len(form.encode()) for form in bundle.values()) < LARGEST
    assert view._repr_mimebundle_() == bundle
    return bundle
