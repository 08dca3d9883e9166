"""The toolchain of JavaScript, and the bundles that it makes."""
