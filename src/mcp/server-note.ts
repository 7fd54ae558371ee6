/** One server of a session, as views show it. */
export interface McpServerNote {
  /** Where it's defined and its name: see `serverKey`. Absent if a whole file couldn't be read. */
  key?: string
  name: string
  type: string
  /** The label of its place. */
  source: string
  passed: boolean
  /** The editor's own. */
  isEditor?: true
  /** The agent gets a program of Parley that connects to the server. */
  isBridged?: true
  /** Of the bridge, to follow it while the session is open: see `Bridges.status`. */
  link?: string
  /** Why the plan omits the server: see `LeftOut`. */
  leftOut?: 'invalid' | 'disabled' | 'off' | 'shadowed' | 'restricted' | 'transport'
  /** Why it wasn't passed, or a note if it was; never contains a secret. */
  reason?: string
}
