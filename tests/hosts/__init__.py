"""Agent hosts: what is written into their files, and how it goes out again."""
