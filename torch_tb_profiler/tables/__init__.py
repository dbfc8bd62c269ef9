"""The tables of a trace, listed once for commands and for agents (`listing`), and what is asked of them.

Belongs here: sorting, filtering and pages (`query/`), SQL (`sql/`). Does not belong here: any door (`cli`, `mcp`,
`api`, `web`), which all ask here, and any number.
"""
