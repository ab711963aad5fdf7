"""Files: graphs in several formats (`registry`), copies and downloads, and the bytes of all."""
