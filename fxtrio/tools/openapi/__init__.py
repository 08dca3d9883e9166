"""OpenAPI 3.1 of a project's actions and endpoints, from the types that its code has.

Begin with `document`, which puts it together; `describe` has a project imported for it.
"""
