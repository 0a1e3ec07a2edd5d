"""Why a result is to be believed: explanations, proofs and numbers."""
