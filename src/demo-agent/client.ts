import type {
  AgentContext,
  ClientCapabilities,
  CreateTerminalRequest,
  TerminalHandle,
} from '@agentclientprotocol/sdk'

/** The functions of a terminal of the client; in v2, the agent runs the command and only reports the terminal. */
export type Terminal = Pick<TerminalHandle, 'id' | 'waitForExit' | 'currentOutput' | 'kill' | 'release'>

/** The functions of the client that a turn needs, in terms of v1. */
export interface DemoClient extends Pick<AgentContext, 'notify' | 'request'> {
  createTerminal(params: CreateTerminalRequest): Promise<Terminal>
}

/** Capabilities of a client: their descriptions for `/where`, and functions that read them in v1. */
export const FEATURES = {
  readTextFile: ['Reads files, including unsaved changes', ({ fs }) => fs?.readTextFile],
  writeTextFile: ['Writes files', ({ fs }) => fs?.writeTextFile],
  terminal: ['Shows commands in terminals', ({ terminal }) => terminal],
  booleans: ['Options to turn on and off', ({ session }) => session?.configOptions?.boolean],
  notices: ['Notices', ({ session }) => session?.notices],
  compaction: ['Summaries of the context', ({ session }) => session?.compaction],
  forms: ['Forms', ({ elicitation }) => elicitation?.form],
  visits: ['Opens URLs', ({ elicitation }) => elicitation?.url],
  // subagents are only in the draft of the protocol
  subagents: ['Subagents', capabilities => Reflect.get(capabilities, 'subagents')],
} satisfies Record<string, [about: string, (capabilities: ClientCapabilities) => unknown]>

export type ClientFeatures = Record<keyof typeof FEATURES, boolean>

/** Returns the features for which a function returns a value other than `false`, `null` or `undefined`. */
export function featuresOf(has: (name: keyof ClientFeatures) => unknown): ClientFeatures {
  const names = Object.keys(FEATURES) as Array<keyof ClientFeatures>
  return Object.fromEntries(names.map(name => [name, (has(name) ?? false) !== false])) as ClientFeatures
}
