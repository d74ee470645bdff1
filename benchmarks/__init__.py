"""Measured comparisons; ``python -m benchmarks`` runs them all and prints their tables."""
