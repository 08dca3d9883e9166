"""The OpenAPI document of a build, reduced to what the route hooks let each visitor call.

Begin with `answer`; `visible` reduces a document.
"""
