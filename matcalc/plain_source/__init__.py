"""Writes formulas as plain source: array statements as a person writes them, in the words of a language.

`read` translates syntax trees into terms, `plan` chooses factorisations and named parts, `write` prints statements.
A language is a table in `codegen/plain/`.
"""
