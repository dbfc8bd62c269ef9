"""Profiles for agents: a server of the Model Context Protocol (docs/for-agents.md).

Belongs here: tools, each a file of `tools`, which cut answers of the Python API to a budget; what agents are
told.
Does not belong here: any number. Names in traces are from outside: they are values in answers, never words of ours.
"""
