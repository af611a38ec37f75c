"""What reconciliation staff decide, one verb a file; each owns its transaction and answers with a closed result."""
