"""How ranks talk: channels, and the coordinator that notices when all is quiet."""
