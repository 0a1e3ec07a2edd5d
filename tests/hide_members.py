"""Hides members of Numba and llvmlite from matcalc, as a future version may; Numba itself still has them."""

import json

HIDING = '''
import builtins, importlib, importlib.metadata, json, sys, types

GONE = json.loads({gone!r})

class Without(types.ModuleType):
    """A module without its hidden members, and so are the modules in it."""

    def __init__(self, module):
        super().__init__(module.__name__)
        self.__dict__["__real__"] = module
        self.__dict__["__path__"] = getattr(module, "__path__", [])

    def __getattr__(self, name):
        path = self.__name__ + "." + name
        if path in GONE:
            raise AttributeError(path + " is hidden")
        found = getattr(self.__real__, name)
        return shown(found) if isinstance(found, types.ModuleType) else found

def shown(module):
    around = module.__name__ + "."
    is_partial = any(name.startswith(around) for name in GONE)
    if module.__name__ in GONE:
        raise ImportError(module.__name__ + " is hidden")
    return Without(module) if is_partial else module

real_import, real_module, real_version = builtins.__import__, importlib.import_module, importlib.metadata.version

def hidden_import(name, globals=None, locals=None, fromlist=(), level=0):
    found = real_import(name, globals, locals, fromlist, level)
    asks = str((globals or {{}}).get("__name__", ""))
    return shown(found) if asks.partition(".")[0] == "matcalc" else found

def version(name):
    return "999.0" if name in ("numba", "llvmlite") else real_version(name)

import numba, llvmlite.binding, numba.core.registry
builtins.__import__ = hidden_import
importlib.import_module = lambda name, package=None: shown(real_module(name, package))
importlib.metadata.version = version
'''
"""Numba and llvmlite give a version that nobody has tested, and matcalc imports them without the hidden members."""


def members(listed):
    """Return the paths of listed members: of a class, the class itself, since its own methods need the member."""
    return sorted({f"{module}.{name.partition('.')[0]}" for module, names in listed.items() for name in names})


def hiding(gone):
    """Return the first lines of a program in which matcalc does not find these members."""
    return HIDING.format(gone=json.dumps(sorted(gone)))
