"""The plugin protocol and the plugins that come with fxtrio."""
