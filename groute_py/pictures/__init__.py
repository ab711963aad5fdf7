"""Pictures of results, graphs and telemetry, drawn by Matplotlib."""
