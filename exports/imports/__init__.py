"""Loading a company's own CSV into the built-in contacts: checked whole before a row is written, and all or nothing.

Whatever is wrong is said with a line number and the name of a column, never with a value.
"""
