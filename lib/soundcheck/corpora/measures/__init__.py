"""What can be measured on a sound, by what measures look at a module each.

- A measure takes a mono signal, float ``(samples,)`` with full scale 1, and its sampling rate in Hz, and
  gives a number; NaN where there is nothing to measure. It never draws at random.
- Signals come at 16 kHz, as models get them; only measures with ``own_rate`` get the file as it is.
"""
