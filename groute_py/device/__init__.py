"""Where a share is worked on: one protocol, two devices with the same verbs in the same order."""
