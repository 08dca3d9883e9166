"""What the names of page files end with."""

PAGE_SUFFIX = ".fxl"
MARKDOWN_SUFFIX = ".md"
