"""What a compiled function is: its specification, the text of its module, the shapes of its results."""
