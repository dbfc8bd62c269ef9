"""Why a distributed job hangs: the flight-recorder dumps of its ranks, and what they say together.

Belongs here: the format of the dumps (`torch.distributed`, pickle or JSON, versions 2.x), reading one without trusting
it, and the diagnosis. Does not belong here: finding files, and starting the process that reads them (`workspace`).

    dump      one rank's dump: its process groups and the calls that a diagnosis needs
    child     what runs in a process of its own, with limits: dumps from stdin → `Dump`s
    job       the dumps of all ranks together: which groups exist, and how far each rank came in each of them
    waits     for whom a rank waits in its first unfinished call
    diagnose  which ranks stopped the job, and the report
    join      a rank's last finished call in the trace of the same rank
"""
