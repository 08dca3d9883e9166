"""The functions of page files, endpoints and action modules as the runtime calls them."""
