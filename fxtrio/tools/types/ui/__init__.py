"""UI halves as the TypeScript compiler reads them."""
