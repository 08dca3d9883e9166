"""Types as Python has them: annotations and classes in, shapes of JSON out."""
