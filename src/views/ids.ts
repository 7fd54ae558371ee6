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
  addFile: 'parley.addFile',
  changeMode: 'parley.changeMode',
  changeModel: 'parley.changeModel',
  openSettings: 'parley.openSettings',
  openInTab: 'parley.openInTab',
  openHistory: 'parley.openHistory',
  refreshHistory: 'parley.refreshHistory',
  forgetMcpInputs: 'parley.forgetMcpInputs',
  renameSession: 'parley.renameSession',
  forkSession: 'parley.forkSession',
  configureProviders: 'parley.configureProviders',
  signIn: 'parley.signIn',
  signOut: 'parley.signOut',
  followAgent: 'parley.followAgent',
  showQuestion: 'parley.showQuestion',
  find: 'parley.find',
  previousTurn: 'parley.previousTurn',
  nextTurn: 'parley.nextTurn',
  firstTurn: 'parley.firstTurn',
  latest: 'parley.latest',
  nextQuestion: 'parley.nextQuestion',
  openSession: 'parley.openSession',
  openBeside: 'parley.openBeside',
  moveToSideBar: 'parley.moveToSideBar',
  copyMessage: 'parley.copyMessage',
  copyConversation: 'parley.copyConversation',
  exportConversation: 'parley.exportConversation',
  openConversationAsDocument: 'parley.openConversationAsDocument',
  editPrompt: 'parley.editPrompt',
  sendAgain: 'parley.sendAgain',
  newSessionWithConversation: 'parley.newSessionWithConversation',
  quoteSelection: 'parley.quoteSelection',
} as const

/** The entries of a session's context menu in History. */
export const HistoryMenuId = {
  show: 'parley.history.show',
  load: 'parley.history.load',
  resume: 'parley.history.resume',
  fork: 'parley.history.fork',
  rename: 'parley.history.rename',
  archive: 'parley.history.archive',
  unarchive: 'parley.history.unarchive',
  close: 'parley.history.close',
  delete: 'parley.history.delete',
} as const

export const ViewId = {
  conversation: 'parley.conversation',
  history: 'parley.history',
} as const

export const ContextKey = {
  /** A turn runs in the conversation that the person looks at. */
  turnRunning: 'parley.turnRunning',
  /** The editor follows the agent. */
  followingAgent: 'parley.followingAgent',
  /** Some session waits for the person. */
  questionWaits: 'parley.questionWaits',
  /** The keyboard's focus is in a conversation. */
  conversationFocus: 'parley.conversationFocus',
} as const
