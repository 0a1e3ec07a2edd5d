"""What is done with nodes: rewriting, differentiating, factoring, evaluating."""
