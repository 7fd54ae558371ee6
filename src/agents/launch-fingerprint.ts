import { createHash } from 'node:crypto'
import type { AgentDefinition } from './definition.ts'

/**
 * Tells whether an agent still starts as it did: the program, its arguments, its environment and its directory as they
 * were written, in a hash. A workspace may define an agent of any id anew; what a person gave to the one they know must
 * not go to that.
 */
export function launchFingerprint({
  command,
  args,
  env,
  cwd,
}: Pick<AgentDefinition, 'command' | 'args' | 'env' | 'cwd'>): string {
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))
  const written = JSON.stringify([command, args, variables, cwd ?? null])
  return createHash('sha256').update(written).digest('base64url')
}
