"""Graphs: the CSR arrays (`csr`), how they are built, what is known of them, and generators."""
