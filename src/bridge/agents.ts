import type { AccountNote, AgentOffer } from './conversation.ts'

/** The result of *Check*. */
export interface AgentCheck {
  ok: boolean
  /** one sentence */
  summary: string
  /** the agent's capabilities, or its last output before a failure */
  details: Array<{ label: string; text: string }>
}

export interface AgentRow extends Pick<AgentOffer, 'plan' | 'asking' | 'running' | 'failed'> {
  section: 'installed' | 'found' | 'settings' | 'registry'
  /** unique on the page */
  key: string
  /** of an agent that can be started */
  agentId?: string
  /** of an agent that is in the registry, or was installed from it */
  registryId?: string
  name: string
  description: string
  /** the name of a codicon, or a `data:` URI */
  icon: string
  version?: string
  /** the registry's version, if different */
  update?: string
  license?: string
  /** the agent's source, as text */
  source: string
  /** its command */
  command?: string
  /** the host name of its URL */
  server?: string
  hasRepository?: true
  /** accounts can be added: the agent stores its sign-in in a folder */
  canAddAccount?: true
  /** of an account */
  folder?: string
  /** why the agent can't start, as a sentence */
  problem?: string
  /** of an agent that can be started */
  account?: AccountNote
  isDefault?: true
  isRunning?: true
  checking?: true
  check?: AgentCheck
}

export interface AgentsState {
  rows: AgentRow[]
  trusted: boolean
  /** the registry is being read */
  refreshing: boolean
  registryOn: boolean
  /** why the registry couldn't be read */
  problem?: string
}
