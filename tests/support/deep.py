"""How much an object holds: everything that it refers to, counted once."""

from __future__ import annotations

import gc
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

_NO_STATE = (type, ModuleType, FunctionType, BuiltinFunctionType)


def objects_in(*roots: object, but: object = None) -> int:
    """The number of objects and of entries of containers below ``roots``, without what is below ``but`` alone."""
    seen: set[int] = {id(but)}
    waiting, count = list(roots), 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, _NO_STATE):
            continue
        seen.add(id(one))
        count += 1 + (len(one) if isinstance(one, (list, dict, set, tuple, str, bytes)) else 0)
        if isinstance(one, MethodType):
            waiting.append(one.__self__)
        else:
            waiting += gc.get_referents(one)
    return count
