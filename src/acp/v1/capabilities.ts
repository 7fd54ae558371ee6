/**
 * What Parley can do, as v1 wants it told: the one place. A capability stands here when it works, and not before.
 */
export const CLIENT_CAPABILITIES = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
}
