"""``python -m groute_py`` is the ``groute-py`` command."""

from groute_py.cli.main import main

main()
