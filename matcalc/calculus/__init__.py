"""Operations on nodes: rewriting, differentiating, factoring, evaluating."""
