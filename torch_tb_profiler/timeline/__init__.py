"""The trace as it is drawn: every slice on a lane, and cells in place of slices too short to be seen.

Belongs here: lanes, the pyramid of cells, exact slices of a window, sums over a window, search, arrows, counters over
time, the file in which what is expensive of it is kept, and what can be asked of it (`questions`), with the layout of
binary answers. Does not belong here: HTTP (`web`), what a pixel looks like (`fe/src/timeline`).
"""
