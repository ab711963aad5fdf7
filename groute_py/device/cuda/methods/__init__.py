"""Methods of one rank with the whole graph; the same file names as in `device/cpu/methods`."""
