"""Text files: blocks of whole lines, rows of integers, and lines of arcs, read and written."""
