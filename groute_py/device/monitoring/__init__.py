"""Reports of GPUs and processes while a solve runs."""
