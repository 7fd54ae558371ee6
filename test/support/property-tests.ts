/**
 * Loaded before all tests: makes property tests try the same cases on every run, so that a failure is caused by a
 * change. Set `PARLEY_SEED` to try other cases.
 */
import fc from 'fast-check'

/** Selects the cases that property tests try. */
export const SEED = Number(process.env.PARLEY_SEED ?? 1)

fc.configureGlobal({ seed: SEED })
