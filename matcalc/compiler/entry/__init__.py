"""The entry from Python into machine code: an object with its own call address."""
