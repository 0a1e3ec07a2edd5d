"""Values of nodes on arrays, by the plain oracle of each rule: slow, checked, compiled by nobody."""
