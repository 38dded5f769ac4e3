"""What is read, and what makes it live: a folder for each chapter, and what they share."""
