/**
 * The commands of the palette, menus and keys, by their names in code. package.json contributes exactly these and those
 * of {@link HistoryMenuId}, {@link CommentMenuId}, {@link ProposalId}, {@link SIDE_BAR_COMMANDS} and {@link TAB_COMMANDS}; a test compares
 * both.
 */
export const CommandId = {
  newSession: 'parley.newSession',
  newSessionWithAgent: 'parley.newSessionWithAgent',
  newSessionInTab: 'parley.newSessionInTab',
  newSessionInWorktree: 'parley.newSessionInWorktree',
  worktree: 'parley.worktree',
  sendTo: 'parley.sendTo',
  showComparison: 'parley.showComparison',
  loadSession: 'parley.loadSession',
  resumeSession: 'parley.resumeSession',
  cancelTurn: 'parley.cancelTurn',
  restartAgent: 'parley.restartAgent',
  showHelp: 'parley.showHelp',
  showAgentLog: 'parley.showAgentLog',
  showProtocolTraffic: 'parley.showProtocolTraffic',
  showUsage: 'parley.showUsage',
  showBackgroundSessions: 'parley.showBackgroundSessions',
  addSelection: 'parley.addSelection',
  addComment: 'parley.addComment',
  addFile: 'parley.addFile',
  addTerminalSelection: 'parley.addTerminalSelection',
  addToConversation: 'parley.addToConversation',
  fix: 'parley.fix',
  explain: 'parley.explain',
  generateCommitMessage: 'parley.generateCommitMessage',
  changeMode: 'parley.changeMode',
  changeModel: 'parley.changeModel',
  openSettings: 'parley.openSettings',
  openInTab: 'parley.openInTab',
  openHistory: 'parley.openHistory',
  openHistoryInTab: 'parley.openHistoryInTab',
  showConversation: 'parley.showConversation',
  refreshHistory: 'parley.refreshHistory',
  deleteSessions: 'parley.deleteSessions',
  forgetMcpInputs: 'parley.forgetMcpInputs',
  signInToMcpServer: 'parley.signInToMcpServer',
  signOutOfMcpServer: 'parley.signOutOfMcpServer',
  renameSession: 'parley.renameSession',
  forkSession: 'parley.forkSession',
  configureProviders: 'parley.configureProviders',
  managePermissionRules: 'parley.managePermissionRules',
  signIn: 'parley.signIn',
  signOut: 'parley.signOut',
  followAgent: 'parley.followAgent',
  showQuestion: 'parley.showQuestion',
  find: 'parley.find',
  focusConversation: 'parley.focusConversation',
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
  copyLink: 'parley.copyLink',
  exportConversation: 'parley.exportConversation',
  exportAll: 'parley.exportAll',
  importConversations: 'parley.importConversations',
  openConversationAsDocument: 'parley.openConversationAsDocument',
  editPrompt: 'parley.editPrompt',
  sendAgain: 'parley.sendAgain',
  restoreCheckpoint: 'parley.restoreCheckpoint',
  undoRestore: 'parley.undoRestore',
  forkFromHere: 'parley.forkFromHere',
  showBranches: 'parley.showBranches',
  newSessionWithConversation: 'parley.newSessionWithConversation',
  quoteSelection: 'parley.quoteSelection',
  manageAgents: 'parley.manageAgents',
  showMcpServers: 'parley.showMcpServers',
  addMcpServer: 'parley.addMcpServer',
  selectDefaultAgent: 'parley.selectDefaultAgent',
  installAgent: 'parley.installAgent',
  updateAgent: 'parley.updateAgent',
  removeAgent: 'parley.removeAgent',
  nextChange: 'parley.nextChange',
  previousChange: 'parley.previousChange',
  keepChange: 'parley.keepChange',
  revertChange: 'parley.revertChange',
  keepFileChanges: 'parley.keepFileChanges',
  revertFileChanges: 'parley.revertFileChanges',
  reviewChanges: 'parley.reviewChanges',
  revertTurnChanges: 'parley.revertTurnChanges',
  restoreReverted: 'parley.restoreReverted',
  keepAllChanges: 'parley.keepAllChanges',
  revertAllChanges: 'parley.revertAllChanges',
  undoDecision: 'parley.undoDecision',
} as const

/** The buttons of both title bars below. */
const BOTH = [
  'newSession',
  'newSessionWithAgent',
  'newSessionInTab',
  'newSessionInWorktree',
  'newSessionWithConversation',
  'find',
  'openConversationAsDocument',
  'exportConversation',
] as const

/** The buttons in the title bar of the view, which act on that view, whichever conversation is active. */
export const SIDE_BAR_COMMANDS = [
  ...BOTH,
  'openSession',
  'openInTab',
  'openBeside',
  'copyConversation',
  'restartAgent',
  'showAgentLog',
  'showConversation',
] as const satisfies Array<keyof typeof CommandId>

/** The buttons in the title bar of a conversation's editor tab, which act on that tab. */
export const TAB_COMMANDS = ['moveToSideBar', ...BOTH] as const satisfies Array<keyof typeof CommandId>

type TitleBarCommand =
  | `parley.sideBar.${(typeof SIDE_BAR_COMMANDS)[number]}`
  | `parley.tab.${(typeof TAB_COMMANDS)[number]}`

/** The entries of a session's context menu in History; their argument is the row's context. */
export const HistoryMenuId = {
  show: 'parley.history.show',
  load: 'parley.history.load',
  resume: 'parley.history.resume',
  fork: 'parley.history.fork',
  rename: 'parley.history.rename',
  copyLink: 'parley.history.copyLink',
  pin: 'parley.history.pin',
  unpin: 'parley.history.unpin',
  export: 'parley.history.export',
  archive: 'parley.history.archive',
  unarchive: 'parley.history.unarchive',
  close: 'parley.history.close',
  delete: 'parley.history.delete',
} as const

/** The buttons of the user's comments on lines. Their arguments are the comments and threads of VS Code. */
export const CommentMenuId = {
  add: 'parley.comments.add',
  edit: 'parley.comments.edit',
  save: 'parley.comments.save',
  cancel: 'parley.comments.cancel',
  delete: 'parley.comments.delete',
  resolve: 'parley.comments.resolve',
  reopen: 'parley.comments.reopen',
} as const

/** Buttons above the diff of a proposed change. Webviews can't run them, since they're the user's decision. */
export const ProposalId = {
  apply: 'parley.applyProposal',
  discard: 'parley.discardProposal',
  /** of an agent in a terminal */
  accept: 'parley.acceptDiff',
  reject: 'parley.rejectDiff',
} as const

/** Commands that package.json doesn't contribute, so that the palette doesn't list them. */
export const HiddenCommandId = {
  /** The links of notifications. Their argument is a random id that only the notification knows. */
  answerNotification: 'parley.answerNotification',
  /** Opens a link into Parley; its arguments are the link's path and query. */
  openLink: 'parley.openLink',
  /** VS Code's command for a former History view, which users' keybindings may still use. */
  focusFormerHistory: 'parley.history.focus',
} as const

type ValueOf<T> = T[keyof T]

/** Every command that Parley registers. */
export type Command =
  | ValueOf<typeof CommandId>
  | ValueOf<typeof HistoryMenuId>
  | ValueOf<typeof CommentMenuId>
  | ValueOf<typeof ProposalId>
  | ValueOf<typeof HiddenCommandId>
  | TitleBarCommand

/** The commands that package.json contributes. */
export const CONTRIBUTED_COMMANDS: readonly Command[] = [
  ...Object.values(CommandId),
  ...Object.values(HistoryMenuId),
  ...Object.values(CommentMenuId),
  ...Object.values(ProposalId),
  ...SIDE_BAR_COMMANDS.map(name => `parley.sideBar.${name}` as const),
  ...TAB_COMMANDS.map(name => `parley.tab.${name}` as const),
]

export const ALL_COMMANDS: readonly Command[] = [...CONTRIBUTED_COMMANDS, ...Object.values(HiddenCommandId)]

/**
 * What each command does. Arguments come from VS Code (menus, keys) or from other extensions, so a handler checks them.
 * A handler that throws is reported to the user; see `registerCommands` in `extension.ts`.
 */
export type CommandHandlers = Record<Command, (...args: unknown[]) => unknown>

export const ViewId = {
  conversation: 'parley.conversation',
} as const

/** The type of the editor tab that shows History. */
export const HISTORY_TAB_TYPE = 'parley.historyTab'

/** The type of the editor tabs that show a conversation. */
export const TAB_VIEW_TYPE = 'parley.conversationTab'
export const MANAGE_AGENTS_VIEW_TYPE = 'parley.manageAgents'
export const MCP_SERVERS_VIEW_TYPE = 'parley.mcpServers'
export const COMPARE_VIEW_TYPE = 'parley.compare'

export const ContextKey = {
  /** A turn is running in the active conversation. */
  turnRunning: 'parley.turnRunning',
  /** The active conversation has a session. */
  hasSession: 'parley.hasSession',
  /** The user has sent a prompt in it. */
  hasPrompts: 'parley.hasPrompts',
  /** Files were restored in it, and the user hasn't undone that. */
  canUndoRestore: 'parley.canUndoRestore',
  /** What the agent of that session supports. */
  canFork: 'parley.canFork',
  canChangeMode: 'parley.canChangeMode',
  canChangeModel: 'parley.canChangeModel',
  /** What that agent is known not to support. */
  cannotSignOut: 'parley.cannotSignOut',
  cannotConfigureProviders: 'parley.cannotConfigureProviders',
  /** The editor follows the agent. */
  followingAgent: 'parley.followingAgent',
  /** There are pending requests. */
  questionWaits: 'parley.questionWaits',
  /** There are changes by agents. */
  hasChanges: 'parley.hasChanges',
  /** The paths of files with changes by agents. */
  changedFiles: 'parley.changedFiles',
  /** The active editor is a review of agents' changes in several files. */
  reviewShown: 'parley.reviewShown',
  /** That editor is shown by a VS Code without own buttons for the previous and the next change. */
  reviewLacksArrows: 'parley.reviewLacksArrows',
  /** The user decided about changes in this window, and hasn't undone it. */
  canUndoDecision: 'parley.canUndoDecision',
  /** The keyboard focus is in a conversation. */
  conversationFocus: 'parley.conversationFocus',
  /** The keyboard focus is in History. */
  historyFocus: 'parley.historyFocus',
  /** The side bar shows History instead of the conversation. */
  historyShown: 'parley.historyShown',
  /** Parley is active. VS Code opens a walkthrough that is listed sooner, at the moment of the installation. */
  isActive: 'parley.isActive',
  /** What the user has done at least once, which completes the steps of the walkthrough. */
  hasAgent: 'parley.hasAgent',
  hasSignedIn: 'parley.hasSignedIn',
  hasAnswer: 'parley.hasAnswer',
  hasAnsweredPermission: 'parley.hasAnsweredPermission',
  hasReviewed: 'parley.hasReviewed',
  hasSeenHistory: 'parley.hasSeenHistory',
  /** The window responds to its extension host. */
  windowIsOpen: 'parley.windowIsOpen',
} as const
