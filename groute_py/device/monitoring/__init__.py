"""What GPUs and processes report while a solve runs."""
