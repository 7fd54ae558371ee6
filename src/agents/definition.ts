import type { ProtocolChoice } from '../common/settings.ts'
import type { SystemPrompt } from './system-prompt.ts'

/**
 * An agent that can be started: what a person, a preset or Parley itself wrote, with variables such as
 * `${workspaceFolder}` still in it. `resolve-launch.ts` makes what is spawned of it.
 */
export interface AgentDefinition {
  /** Unique in the window; the key in `parley.agents`. */
  id: string
  /** The name to show. */
  name: string
  /** One short sentence for a list of choices. */
  description?: string
  /** Of an installed agent. */
  version?: string
  /** An absolute path, a path relative to `cwd`, or a name to find on the PATH. */
  command: string
  args: string[]
  /** Set over the login shell's environment. */
  env: Record<string, string>
  /** Where the process starts; the session's own directory is told to the agent apart from it. */
  cwd?: string
  /** The name of a codicon. */
  icon?: string
  /** Which version of the protocol to offer it; the setting of all agents when absent. */
  protocol?: ProtocolChoice
  /** What it is told beyond its own instructions; the setting of all agents when absent. */
  systemPrompt?: SystemPrompt
  source: AgentSource
}

/**
 * Where an agent comes from. `settings`: `parley.agents` · `installed`: installed by Parley from the registry ·
 * `preset`: a well-known command on the PATH · `demo`: bundled
 */
export type AgentSource = 'settings' | 'installed' | 'preset' | 'demo'
