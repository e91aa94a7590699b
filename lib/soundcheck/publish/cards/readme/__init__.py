"""Updates a README that people wrote: every byte that is not ours stays."""
