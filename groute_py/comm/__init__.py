"""Channels between ranks, and the coordinator that notices when all is quiet."""
