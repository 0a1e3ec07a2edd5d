"""The normal form: nodes, and the constructors that keep equal expressions one object."""
