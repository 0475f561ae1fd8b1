"""What counts as a claim, which memories contradict each other, and which of them holds."""
