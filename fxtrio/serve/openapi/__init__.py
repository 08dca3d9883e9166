"""The OpenAPI document of a build: to each visitor what the route hooks let him call.

Begin with `answer`; `visible` cuts a document down.
"""
