import type { AccountNote, AgentOffer } from './conversation.ts'

/** The result of *Check*. */
export interface AgentCheck {
  ok: boolean
  /** one sentence */
  summary: string
  /** what the agent can do, or the agent's last output before a failure */
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
  /** its source, as text */
  source: string
  /** its command */
  command?: string
  /** the host of its URL */
  server?: string
  hasRepository?: true
  /** its accounts can be added: it keeps its sign-in in a folder */
  canAddAccount?: true
  /** of an account */
  folder?: string
  /** why it can't start, as a sentence */
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
