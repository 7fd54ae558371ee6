/** One server of a session, as views show it. */
export interface McpServerNote {
  /** The source and the name of the server: see `serverKey`. Absent if a whole file couldn't be read. */
  key?: string
  name: string
  type: string
  /** The label of the server's source. */
  source: string
  passed: boolean
  /** The editor's own. */
  isEditor?: true
  /** The agent gets a program of Parley that connects to the server. */
  isBridged?: true
  /** Of the bridge, to follow it while the session is open: see `Bridges.status`. */
  link?: string
  /** Why the plan omits the server: see `ServerExclusion`. */
  exclusion?: 'invalid' | 'disabled' | 'off' | 'shadowed' | 'restricted' | 'transport'
  /** Why the server wasn't passed, or a note if it was; never contains a secret. */
  reason?: string
}
