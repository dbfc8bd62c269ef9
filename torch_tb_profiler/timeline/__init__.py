"""The trace as it is drawn: every slice on a lane, and cells in place of slices too short to be seen.

Belongs here: lanes, the pyramid of cells, exact slices of a window, sums over a window, search, arrows, counters over
time, and the file in which what is expensive of it is kept. Does not belong here: the bytes in which tiles are sent
(`web`), what a pixel looks like (`fe/src/timeline`).
"""
