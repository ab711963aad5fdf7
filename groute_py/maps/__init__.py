"""Points, areas and routes on maps, and pictures of results, graphs and telemetry."""
