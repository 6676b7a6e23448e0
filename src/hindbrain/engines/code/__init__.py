"""Code: what a source file says about itself. Bytes in, values out; no file, no repository, no other file."""
