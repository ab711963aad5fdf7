"""Roads from extracts of OpenStreetMap."""
