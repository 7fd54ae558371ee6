import type { AccountNote, AgentOffer } from './conversation.ts'

/** The result of *Check*. */
export interface AgentCheck {
  ok: boolean
  /** one sentence */
  summary: string
  /** the agent's capabilities; after a failure, the agent's last output */
  details: Array<{ label: string; text: string }>
}

export interface AgentRow extends Pick<AgentOffer, 'plan' | 'asking' | 'running' | 'failed'> {
  section: 'installed' | 'found' | 'settings' | 'registry'
  /** unique on the page */
  key: string
  /** only for an agent that can be started */
  agentId?: string
  /** only for an agent that is in the registry or was installed from it */
  registryId?: string
  name: string
  description: string
  /** the name of a codicon, or a `data:` URI */
  icon: string
  version?: string
  /** the registry's version, if it differs from `version` */
  update?: string
  license?: string
  /** the agent's source, as text */
  source: string
  /** the agent's command */
  command?: string
  /** the host name of the agent's URL */
  server?: string
  hasRepository?: true
  /** accounts can be added, because the agent stores its sign-in in a folder */
  canAddAccount?: true
  /** only for an account: its folder */
  folder?: string
  /** why the agent can't start, as a sentence */
  problem?: string
  /** only for an agent that can be started */
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
