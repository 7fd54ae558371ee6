import os from 'node:os'
import path from 'node:path'

const project = path.resolve(import.meta.dirname, '../..')

/**
 * The installed agents with their dependencies: outside of the checkout, so that cleaning it doesn't delete them.
 */
export const AGENTS_CACHE =
  process.env.PARLEY_AGENTS_CACHE ?? path.join(os.homedir(), '.cache', 'parley-agents')

/** Every frame of every run: `<agent>-<scenario>.ndjson`. */
export const TRACES = path.join(project, 'out', 'agents')

/** A folder per agent: `package.json` and a lock file. */
export const PACKAGES = path.join(import.meta.dirname, 'packages')

export const PROJECT = project
