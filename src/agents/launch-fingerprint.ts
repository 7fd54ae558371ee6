import { createHash } from 'node:crypto'
import type { AgentDefinition } from './definition.ts'

/** `agents/<id>/<version>-<unique>/`, where the installed agents are. */
const VERSION_FOLDER = /([/\\]agents[/\\][^/\\]+[/\\])[^/\\]+-[0-9a-f]{8}(?=[/\\])/

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
  source,
}: Pick<AgentDefinition, 'command' | 'args' | 'env' | 'cwd'> &
  Partial<Pick<AgentDefinition, 'source'>>): string {
  // An update of an installed agent is still the agent that the user knows.
  const plain = (path: string) => (source === 'installed' ? path.replace(VERSION_FOLDER, '$1') : path)
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))
  const written = JSON.stringify([plain(command), args.map(plain), variables, cwd ?? null])
  return createHash('sha256').update(written).digest('base64url')
}
