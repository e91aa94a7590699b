"""Metrics of truth and prediction, all as sums of contributions and functions of these sums.

Conventions
-----------
- Truth before prediction, clean before changed, baseline before candidate; one value a segment each, arrays
  ``(N,)`` in the same fixed order.
- Every metric gives a :class:`~soundcheck.metrics.additive.Statistic`, which has values, counts, reasons and
  notes, and which the bootstrap resamples; what is no function of sums is a
  :class:`~soundcheck.metrics.weighted.Weighted`.
- Segments without truth are left out. A segment with truth but without a (finite) prediction is *missing*:
  it contributes nothing and is counted; above 5 % a note says so, above half there is no value.
- Undefined is NaN with a reason, never a warning. Values carry 12 significant digits.
- Proportions lie between 0 and 1.
- Trials of the same speaker are *targets*, all others *non-targets*; higher scores mean more alike.
- Sums are exact, see :mod:`soundcheck.metrics.additive`: no byte of a result depends on the order of the
  segments, on the number of threads or on the processor.
"""
