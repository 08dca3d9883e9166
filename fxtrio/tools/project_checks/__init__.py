"""Problems around the pages of a project, found without importing it.

Begin with `project_files`.
"""
