"""What the TypeScript compiler reports, as problems of page files."""
