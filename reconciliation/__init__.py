"""What the machine could not know: recovery, probes, and the settling of unknown outcomes by people."""
