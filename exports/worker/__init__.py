"""The worker: from a wake-up to the attempt's last write."""
