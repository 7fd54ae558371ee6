import * as z from 'zod'
import type { AgentCapabilities, SessionSetup } from '../acp/model.ts'
import type { AgentColor } from '../common/agent-icon.ts'
import type { PathMapping } from '../common/path-mapping.ts'
import type { ProtocolChoice } from '../common/settings.ts'

/**
 * An agent that can be started, as a user, a preset or Parley defined it, with unresolved variables such as `${workspaceFolder}`.
 * `resolve-launch.ts` resolves them.
 */
export interface AgentDefinition {
  /** Unique in the window; the key in `parley.agents`. */
  id: string
  /** The name to show. */
  name: string
  /** One short sentence for a list of choices. */
  description?: string
  /** Only for an installed agent. */
  version?: string
  /** An absolute path, a path relative to `cwd`, or a name to find on the PATH. */
  command: string
  args: string[]
  /** Overrides the login shell's environment. */
  env: Record<string, string>
  /** The directory of the process; each session has its own working directory. */
  cwd?: string
  /** The agent runs on a server: no process is started, and `command` is empty. */
  remote?: RemoteDefinition
  /** The name of a codicon, or the `data:` URI of an image. */
  icon?: string
  /** Distinguishes the agent, together with its name. */
  color?: AgentColor
  /** The protocol version to offer; if absent, the setting for all agents applies. */
  protocol?: ProtocolChoice
  /** Additional instructions; if absent, the setting for all agents applies. */
  systemPrompt?: SystemPrompt
  /** The initial options of new sessions, instead of the agent's own defaults. */
  defaultOptions?: DefaultOptions
  source: AgentSource
  /** Another sign-in of an agent. */
  account?: AgentAccount
}

/** Where an agent on a server is. */
export interface RemoteDefinition {
  url: string
  headers: Record<string, string>
  /** The agent has the files of this machine, so it may use this machine's files and terminals. */
  sharesFiles?: true
  /** The folders that the agent has at other paths. */
  pathMappings?: PathMapping[]
}

/** An account of an agent: the same agent with a sign-in of its own. */
export interface AgentAccount {
  /** The agent's id; empty if the settings don't say it in a valid way. */
  of: string
  /** Absolute. The agent keeps everything there that belongs to its sign-in. */
  folder: string
}

/**
 * Where an agent comes from. `settings`: `parley.agents` · `installed`: installed by Parley from the registry ·
 * `preset`: a well-known command on the PATH · `demo`: bundled
 */
export type AgentSource = 'settings' | 'installed' | 'preset' | 'demo'

/** Values of config options, by the id or the category of each. */
export type DefaultOptions = Readonly<Record<string, string | boolean>>

/** Instructions of the user, in addition to the agent's own or in place of them. */
export interface SystemPrompt {
  text: string
  mode: 'append' | 'override'
}

const withMode = z.object({ text: z.string(), mode: z.enum(['append', 'override']).default('append') })

/** As in the settings: text alone is appended to the agent's instructions. */
export const systemPromptSetting = z.union([
  z.string().transform((text): SystemPrompt => ({ text, mode: 'append' })),
  withMode,
])

/**
 * The prompt configured for the agent, even an empty one, overrides the one for all agents. `undefined` if there is no
 * text.
 */
export function chooseSystemPrompt(
  ofAgent: SystemPrompt | undefined,
  forAll: unknown,
): SystemPrompt | undefined {
  const chosen = ofAgent ?? systemPromptSetting.safeParse(forAll).data
  return chosen?.text.trim() ? chosen : undefined
}

/** Whether the agent supports a prompt of this form. */
export function takesSystemPrompt({ mode }: SystemPrompt, can: AgentCapabilities): boolean {
  return can.systemPrompt !== undefined && (mode === 'append' || can.systemPrompt.override)
}

/**
 * The user's system prompt as sent with a session, with a note for the user. An agent may refuse a form that it doesn't
 * support.
 */
export function planSystemPrompt(
  wanted: SystemPrompt | undefined,
  can: AgentCapabilities,
): { given?: SessionSetup['systemPrompt']; systemPrompt?: 'appended' | 'overrides' | 'not-taken' } {
  if (!wanted) return {}
  const { mode, text } = wanted
  if (!takesSystemPrompt(wanted, can)) return { systemPrompt: 'not-taken' }
  return {
    given: { mode, content: [{ type: 'text', text }] },
    systemPrompt: mode === 'append' ? 'appended' : 'overrides',
  }
}
