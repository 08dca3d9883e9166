"""What the two halves of a page declare, and what is wrong with them."""
