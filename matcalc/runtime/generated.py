"""The package of generated modules: its path is the cache folder, where pickles made by Numba find them."""

from matcalc.runtime.folder import cache_folder

__path__ = [str(cache_folder().path)]
