"""The data set of the console part, and how its pages are opened."""
