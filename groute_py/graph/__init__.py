"""Graphs: the CSR arrays (`csr`), files of several formats (`files`), generators (`generate`)."""
