"""The evidence for results: explanations, proofs and numeric comparisons."""
