"""Reading all ranks of a log directory at once, on this machine or on a cluster, into a cache that others share.

Belongs here: what is sent to the processes that read, the two ways to have it read (`reading`, `cluster`), and what is
done with what comes back. Does not belong here: how one trace is read (`workspace/reading/worker.py`), what ranks say
together (`ranks`).

Workers of a cluster import `reading` alone, so nothing is imported here.
"""
