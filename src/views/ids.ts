/** The ids that package.json and the code must agree on, in one place. */
export const CommandId = {
  newSession: 'parley.newSession',
  newSessionWithAgent: 'parley.newSessionWithAgent',
  loadSession: 'parley.loadSession',
  resumeSession: 'parley.resumeSession',
  cancelTurn: 'parley.cancelTurn',
  restartAgent: 'parley.restartAgent',
  showAgentLog: 'parley.showAgentLog',
  showProtocolTraffic: 'parley.showProtocolTraffic',
  addSelection: 'parley.addSelection',
  openSettings: 'parley.openSettings',
  openInTab: 'parley.openInTab',
  openHistory: 'parley.openHistory',
  refreshHistory: 'parley.refreshHistory',
  forgetMcpInputs: 'parley.forgetMcpInputs',
  signIn: 'parley.signIn',
  signOut: 'parley.signOut',
} as const

export const ViewId = {
  conversation: 'parley.conversation',
  history: 'parley.history',
} as const

export const ContextKey = {
  /** A turn runs in the conversation that the person looks at. */
  turnRunning: 'parley.turnRunning',
} as const
