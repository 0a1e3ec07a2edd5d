"""Values of nodes on arrays, from the plain oracle of each rule: slow, checked, never compiled."""
