"""Look inside a running model, or change what happens there.

A :class:`HookPoint` stands at every place worth seeing and lets its tensor pass unchanged. A
function put on one sees that tensor, and what the function returns, unless it is ``None``, goes on
in its stead. Names are those of TransformerLens: ``blocks.0.attn.hook_pattern``,
``blocks.0.hook_resid_post``.
"""

from contextlib import contextmanager

from torch import nn

__all__ = ["ActivationCache", "HookPoint", "HookedModule", "hook_points", "hooked"]


class HookPoint(nn.Module):
    """A named place that tensors pass; the identity, unless a function is put on it.

    Examples
    --------
    >>> import torch
    >>> point = HookPoint()
    >>> with hooked(point, [("", lambda tensor, hook: tensor * 2)]):
    ...     point(torch.tensor([1.0, 2.0]))
    tensor([2., 4.])
    >>> point(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def __init__(self):
        super().__init__()
        self.functions = []  # (function, name of this point in the model it was put on)
        self.name = None  # that name, for the function that is running

    @property
    def active(self):
        """Whether a function is on this point, so that its tensor must exist."""
        return bool(self.functions)

    def __call__(self, tensor):
        # A module's own call costs microseconds, and a step of decoding passes hundreds of points.
        return self.forward(tensor) if self.functions else tensor

    def forward(self, tensor):
        for function, name in self.functions:
            self.name = name
            replacement = function(tensor, self)
            if replacement is not None:
                tensor = replacement
        return tensor


class ActivationCache(dict):
    """Tensors by the name of their hook point; ``cache["pattern", 0]`` is short for block 0's.

    Examples
    --------
    >>> cache = ActivationCache({"blocks.0.attn.hook_q": "queries", "hook_embed": "tokens"})
    >>> cache["q", 0], cache["hook_embed"]
    ('queries', 'tokens')
    """

    def __missing__(self, key):
        if not isinstance(key, tuple):
            raise KeyError(f"no activation {key!r}; there are {', '.join(self)}")
        kind, layer = key
        found = [
            name
            for name in self
            if name.rsplit(".", 1)[-1] == f"hook_{kind}" and f".blocks.{layer}." in f".{name}"
        ]
        if len(found) != 1:
            raise KeyError(
                f"{key!r} must name one activation, it names {len(found)} "
                f"({', '.join(found) or 'none'}) of {', '.join(self)}"
            )
        return self[found[0]]


class HookedModule(nn.Module):
    """A module whose inside can be read and changed at its hook points."""

    def run_with_cache(self, *args, names=None, **kwargs):
        """Call the module and keep a copy of what passes its hook points.

        Parameters
        ----------
        names : function of a hook point's name, or collection of names, optional
            Which points to keep; all of them if not given. Weights and scores that are kept cost
            (batch, heads, query, key) of memory each and take the slow path.

        Returns
        -------
        output : what the module returns
        cache : ActivationCache of detached copies

        Raises
        ------
        ValueError
            If a name is none of the module's hook points.
        """
        cache = ActivationCache()

        def keep(tensor, hook):
            cache[hook.name] = tensor.detach().clone()

        if names is None or callable(names):
            names = [name for name in hook_points(self) if names is None or names(name)]
        with hooked(self, [(name, keep) for name in names]):
            output = self(*args, **kwargs)
        return output, cache

    def run_with_hooks(self, *args, fwd_hooks, **kwargs):
        """Call the module with functions on its hook points, for this one call.

        Parameters
        ----------
        fwd_hooks : list of (name, function)
            ``function(tensor, hook)`` may return a tensor that takes the place of the one it saw.

        Returns
        -------
        what the module returns

        Raises
        ------
        ValueError
            If a name is none of the module's hook points.
        """
        with hooked(self, fwd_hooks):
            return self(*args, **kwargs)


def hook_points(module):
    """The hook points of a module, by name, in the order in which they were made."""
    return {name: part for name, part in module.named_modules() if isinstance(part, HookPoint)}


@contextmanager
def hooked(module, fwd_hooks):
    """Put functions on a module's hook points while the ``with`` block runs, an error included."""
    points, fwd_hooks = hook_points(module), list(fwd_hooks)  # a list can be gone through again
    for name, _ in fwd_hooks:
        if name not in points:
            raise ValueError(f"no hook point {name!r}; there are {', '.join(points) or 'none'}")
    try:
        for name, function in fwd_hooks:
            points[name].functions.append((function, name))
        yield
    finally:
        for name, function in fwd_hooks:
            if (function, name) in points[name].functions:
                points[name].functions.remove((function, name))
