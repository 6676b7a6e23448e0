"""Moving in: what other programs remembered, planned first and taken through the gateway."""
