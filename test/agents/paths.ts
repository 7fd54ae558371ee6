import os from 'node:os'
import path from 'node:path'

const project = path.resolve(import.meta.dirname, '../..')

/** Where the agents are installed, each with all it needs. Outside the checkout, so that cleaning it costs no download. */
export const AGENTS_CACHE =
  process.env.PARLEY_AGENTS_CACHE ?? path.join(os.homedir(), '.cache', 'parley-agents')

/** Every frame of every run: `<agent>-<scenario>.ndjson`. */
export const TRACES = path.join(project, 'out', 'agents')

/** A folder for each agent: `package.json` and a lock file. */
export const PACKAGES = path.join(import.meta.dirname, 'packages')

export const PROJECT = project
