"""Gates: small proofs that the operating layer does what its waves promise, run with the real product in homes of their own."""
