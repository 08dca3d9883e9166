"""Projects of other frameworks are converted, built and served."""
