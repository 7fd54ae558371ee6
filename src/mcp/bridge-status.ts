import type { CheckedTool } from './server-check.ts'

/** `waiting`: the agent hasn't started the bridge; `ended`: it had, and the bridge has ended since. */
export type BridgeState = 'waiting' | 'connecting' | 'connected' | 'failed' | 'ended'

/** The state of a bridge, as it reports itself. Texts contain no secrets. */
export interface BridgeStatus {
  state: BridgeState
  /** Why the server isn't connected. */
  reason?: string
  /** The end of what the bridge reported and the server logged. */
  log: string
  /** As the server listed them to the agent; absent until it has. */
  tools?: CheckedTool[]
}
