"""What the product can do, one module per noun."""
