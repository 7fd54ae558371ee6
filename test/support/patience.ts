/**
 * How long tests wait for a condition, in milliseconds. Only a failing test waits this long, so it suits a machine that
 * is busy with other work.
 */
export const PATIENCE_MS = 60_000
