/**
 * Loaded before all tests: property tests try the same cases on every run, so that a test that fails does so because of
 * a change. `PARLEY_SEED` tries other cases.
 */
import fc from 'fast-check'

/** Selects the cases that property tests try. */
export const SEED = Number(process.env.PARLEY_SEED ?? 1)

fc.configureGlobal({ seed: SEED })
