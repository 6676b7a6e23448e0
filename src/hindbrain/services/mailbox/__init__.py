"""Letters: the spool, the boxes, and what is read from them."""
