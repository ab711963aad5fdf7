"""What jobs put on maps: parts of arcs, areas, GeoJSON, pages and pictures."""
