import * as z from 'zod'
import type { AgentCapabilities, SessionSetup } from '../acp/model.ts'
import type { AgentColor } from '../common/agent-icon.ts'
import type { PathMapping } from '../common/path-mapping.ts'
import type { ProtocolChoice } from '../common/settings.ts'

/**
 * An agent that can be started, as a user, a preset or Parley defined it. It may contain variables such as `${workspaceFolder}`, which
 * `resolve-launch.ts` resolves.
 */
export interface AgentDefinition {
  /** The key in `parley.agents`, unique in the window. */
  id: string
  /** The name that users see. */
  name: string
  /** A short sentence for a list of choices. */
  description?: string
  /** The version of an installed agent. */
  version?: string
  /** An absolute path, a path relative to `cwd`, or a name to find on the PATH. */
  command: string
  args: string[]
  /** Environment variables that override the login shell's environment. */
  env: Record<string, string>
  /** The working directory of the process; each session has its own working directory. */
  cwd?: string
  /** Present if the agent runs on a server. Then no process is started, and `command` is empty. */
  remote?: RemoteDefinition
  /** The name of a codicon, or the `data:` URI of an image. */
  icon?: string
  /** A color that distinguishes the agent, together with its name. */
  color?: AgentColor
  /** The protocol version to offer; if absent, the setting for all agents applies. */
  protocol?: ProtocolChoice
  /** The user's instructions for the agent; if absent, the setting for all agents applies. */
  systemPrompt?: SystemPrompt
  /** The initial options of new sessions, instead of the agent's own defaults. */
  defaultOptions?: DefaultOptions
  source: AgentSource
  /** Present if the agent is an account of another agent, with its own sign-in. */
  account?: AgentAccount
}

/** The address and the files of an agent on a server. */
export interface RemoteDefinition {
  url: string
  headers: Record<string, string>
  /** The agent can access this machine's files, so it may use this machine's files and terminals. */
  sharesFiles?: true
  /** The folders that have other paths on the agent's machine. */
  pathMappings?: PathMapping[]
}

/** An account of an agent: the same agent with its own sign-in. */
export interface AgentAccount {
  /** The id of the account's agent; empty if the settings contain no valid id. */
  of: string
  /** The absolute path of the folder in which the agent keeps everything that belongs to its sign-in. */
  folder: string
}

/**
 * Where an agent comes from. `settings`: `parley.agents` · `installed`: installed by Parley from the registry · `preset`: a well-known
 * command on the PATH · `demo`: the bundled demo agent
 */
export type AgentSource = 'settings' | 'installed' | 'preset' | 'demo'

/** Values of config options, by the id or the category of the option. */
export type DefaultOptions = Readonly<Record<string, string | boolean>>

/** The user's instructions, which are appended to the agent's own instructions or override them. */
export interface SystemPrompt {
  text: string
  mode: 'append' | 'override'
}

const withMode = z.object({ text: z.string(), mode: z.enum(['append', 'override']).default('append') })

/** The schema of a system prompt in the settings. A plain text is appended to the agent's instructions. */
export const systemPromptSetting = z.union([
  z.string().transform((text): SystemPrompt => ({ text, mode: 'append' })),
  withMode,
])

/**
 * Returns the system prompt to use. A prompt that is configured for the agent, even an empty one, overrides the prompt for all agents.
 * Returns `undefined` if there is no text.
 */
export function chooseSystemPrompt(
  ofAgent: SystemPrompt | undefined,
  forAll: unknown,
): SystemPrompt | undefined {
  const chosen = ofAgent ?? systemPromptSetting.safeParse(forAll).data
  return chosen?.text.trim() ? chosen : undefined
}

/** Whether the agent supports a system prompt in this mode. */
export function takesSystemPrompt({ mode }: SystemPrompt, can: AgentCapabilities): boolean {
  return can.systemPrompt !== undefined && (mode === 'append' || can.systemPrompt.override)
}

/**
 * Returns the user's system prompt in the form in which it's sent with a session, and how the agent uses it, for the user. An agent may not
 * support the mode.
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
