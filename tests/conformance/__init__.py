"""What a trustworthy memory must survive (CONF-…), each with its control in the same test, through the public operations."""
