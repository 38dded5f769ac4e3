"""The entries of the race, a file each, and what they reached."""
