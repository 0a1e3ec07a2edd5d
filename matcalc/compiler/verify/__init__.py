"""What can be said of a Program before it is text: that it is right for all sizes, and what it does at some."""
