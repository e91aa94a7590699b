"""Resampling, balancing and simulation.

Conventions
-----------
- Draws follow from the seed and from what they are for, not from the order of segments, from what else is
  drawn or from the number of jobs.
- Blocks are what is drawn together: speakers, conversations or files. Segments of a block are alike.
- Groups have ``segments_per_group`` segments each; tables and threshold files call that ``samples``.
"""
