"""The OpenAPI document of a build: to each visitor what the route hooks let him call.

Begin with `visible`, which cuts a document down.
"""
