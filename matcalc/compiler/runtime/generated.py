"""The package of generated modules: they come from text in memory alone, so that nothing on a disk is imported."""

__path__: list[str] = []
