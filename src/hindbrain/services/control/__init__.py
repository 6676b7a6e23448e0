"""The control loop: roles that speak only over the bus, and what carries them."""
