/** Creates ids from a prefix and the names used in code. */
function ids<const Prefix extends string, const Name extends string>(
  prefix: Prefix,
  names: readonly Name[],
): { readonly [N in Name]: `${Prefix}.${N}` } {
  return Object.fromEntries(names.map(name => [name, `${prefix}.${name}`])) as ReturnType<
    typeof ids<Prefix, Name>
  >
}

/**
 * The commands of the palette, menus and keys, by their names in code. They and the commands of {@link HistoryMenuId}, {@link
 * CommentMenuId}, {@link ProposalId}, {@link PlanId}, {@link SIDE_BAR_COMMANDS} and {@link TAB_COMMANDS} are defined in
 * `contributions/commands.ts`.
 */
export const CommandId = ids('parley', [
  'newSession',
  'newSessionWithAgent',
  'newSessionInTab',
  'newSessionInWorktree',
  'worktree',
  'sendTo',
  'showComparison',
  'cancelTurn',
  'restartAgent',
  'checkAgent',
  'showHelp',
  'showAgentLog',
  'showProtocolTraffic',
  'showUsage',
  'setSessionLimit',
  'showBackgroundSessions',
  'addSelection',
  'addComment',
  'addFile',
  'addTerminalSelection',
  'addToConversation',
  'fix',
  'explain',
  'generateCommitMessage',
  'acceptForSession',
  'changeMode',
  'changeModel',
  'openSettings',
  'openInTab',
  'openHistory',
  'openHistoryInTab',
  'showConversation',
  'refreshHistory',
  'deleteSessions',
  'forgetMcpInputs',
  'signInToMcpServer',
  'signOutOfMcpServer',
  'renameSession',
  'forkSession',
  'configureProviders',
  'managePermissionRules',
  'signIn',
  'signOut',
  'followAgent',
  'showQuestion',
  'find',
  'collapseTurns',
  'expandTurns',
  'focusConversation',
  'outline',
  'previousTurn',
  'nextTurn',
  'firstTurn',
  'latest',
  'nextQuestion',
  'openSession',
  'openBeside',
  'moveToSideBar',
  'copyMessage',
  'copyConversation',
  'copyLink',
  'exportConversation',
  'exportAll',
  'importConversations',
  'openConversationAsDocument',
  'editPrompt',
  'sendAgain',
  'restoreCheckpoint',
  'undoRestore',
  'showBranches',
  'continueSession',
  'quoteSelection',
  'manageAgents',
  'showMcpServers',
  'addMcpServer',
  'selectDefaultAgent',
  'installAgent',
  'updateAgent',
  'removeAgent',
  'nextChange',
  'previousChange',
  'keepChange',
  'revertChange',
  'showOld',
  'keepFileChanges',
  'revertFileChanges',
  'reviewChanges',
  'revertTurnChanges',
  'restoreReverted',
  'keepAllChanges',
  'revertAllChanges',
  'undoDecision',
  'toggleDecided',
  'commitReviewed',
])

/** The buttons of both title bars below. */
const BOTH = [
  'newSession',
  'newSessionWithAgent',
  'newSessionInTab',
  'newSessionInWorktree',
  'continueSession',
  'find',
  'openConversationAsDocument',
  'exportConversation',
] as const

/** The buttons in the title bar of the view, which apply to that view, whichever conversation is active. */
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
export const HistoryMenuId = ids('parley.history', [
  'show',
  'load',
  'resume',
  'fork',
  'rename',
  'copyLink',
  'pin',
  'unpin',
  'export',
  'archive',
  'unarchive',
  'close',
  'delete',
])

/** The buttons of the user's comments on lines. Their arguments are the comments and threads of VS Code. */
export const CommentMenuId = ids('parley.comments', [
  'add',
  'edit',
  'save',
  'cancel',
  'delete',
  'resolve',
  'reopen',
])

/** Buttons above the diff of a proposed change, also of an agent in a terminal. Webviews can't run them, since they're the user's decision. */
export const ProposalId = {
  accept: 'parley.acceptDiff',
  reject: 'parley.rejectDiff',
} as const

/** Buttons of a plan's document. Their argument is the document's URI; without one, the active editor's plan is meant. */
export const PlanId = {
  accept: 'parley.acceptPlan',
  acceptCleared: 'parley.acceptPlanCleared',
  sendComments: 'parley.sendPlanComments',
} as const

/** Commands that aren't contributed, so that the command palette doesn't list them. */
export const HiddenCommandId = {
  /** The links of notifications. Their argument is a random id that only the notification knows. */
  answerNotification: 'parley.answerNotification',
  /** Opens a link into Parley; its arguments are the link's path and query. */
  openLink: 'parley.openLink',
  /** Goes to a file in the review; its argument is the path. */
  reviewFile: 'parley.reviewFile',
  /** VS Code's command for a former History view, which users' keybindings may still use. */
  focusFormerHistory: 'parley.history.focus',
} as const

type ValueOf<T> = T[keyof T]

/** The commands that the manifest contributes. */
export type ContributedCommand =
  | ValueOf<typeof CommandId>
  | ValueOf<typeof HistoryMenuId>
  | ValueOf<typeof CommentMenuId>
  | ValueOf<typeof ProposalId>
  | ValueOf<typeof PlanId>
  | TitleBarCommand

/** Every command that Parley registers. */
export type Command = ContributedCommand | ValueOf<typeof HiddenCommandId>

export const ALL_COMMANDS: readonly Command[] = [
  ...Object.values(CommandId),
  ...Object.values(HistoryMenuId),
  ...Object.values(CommentMenuId),
  ...Object.values(ProposalId),
  ...Object.values(PlanId),
  ...SIDE_BAR_COMMANDS.map(name => `parley.sideBar.${name}` as const),
  ...TAB_COMMANDS.map(name => `parley.tab.${name}` as const),
  ...Object.values(HiddenCommandId),
]

/**
 * The handler of each command. Arguments come from VS Code (menus, keys) or from other extensions, so handlers check them. An error that a
 * handler throws is shown to the user; see `registerCommands` in `extension.ts`.
 */
export type CommandHandlers = Record<Command, (...args: unknown[]) => unknown>

export const ViewId = {
  conversation: 'parley.conversation',
  review: 'parley.review',
} as const

/** The type of the editor tab that shows History. */
export const HISTORY_TAB_TYPE = 'parley.historyTab'

/** The type of the editor tabs that show a conversation. */
export const TAB_VIEW_TYPE = 'parley.conversationTab'
export const MANAGE_AGENTS_VIEW_TYPE = 'parley.manageAgents'
export const MCP_SERVERS_VIEW_TYPE = 'parley.mcpServers'
export const PROTOCOL_VIEW_TYPE = 'parley.protocolTraffic'
/** Not restored after a reload: its recording is gone then. */
export const REPLAY_VIEW_TYPE = 'parley.replay'
export const COMPARE_VIEW_TYPE = 'parley.compare'

export const ContextKey = {
  /** A turn is running in the active conversation. */
  turnRunning: 'parley.turnRunning',
  /** The active conversation has a session. */
  hasSession: 'parley.hasSession',
  /** The user has sent a prompt in the active session. */
  hasPrompts: 'parley.hasPrompts',
  /** Files were restored in the active session, and the user hasn't undone that. */
  canUndoRestore: 'parley.canUndoRestore',
  /** What the session's agent supports. */
  canChangeMode: 'parley.canChangeMode',
  canChangeModel: 'parley.canChangeModel',
  /** What the session's agent is known not to support. */
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
  /** This VS Code shows that editor without its own buttons for the previous and the next change. */
  reviewLacksArrows: 'parley.reviewLacksArrows',
  /** Single keys decide about changes in the active editor, a review or the diff of a file: the user doesn't edit its text. */
  reviewKeys: 'parley.reviewKeys',
  /** A review has files (`reviewOpen`), and all of their changes are decided (`reviewDone`). */
  reviewOpen: 'parley.reviewOpen',
  reviewDone: 'parley.reviewDone',
  /** The user decided about changes in this window, and hasn't undone it. */
  canUndoDecision: 'parley.canUndoDecision',
  /** What would be undone is about changes, and the user has edited no text since. */
  decidedLast: 'parley.decidedLast',
  /** The URIs of plans that can be accepted, accepted with a cleared context, and rejected with comments. */
  plansToAccept: 'parley.plansToAccept',
  plansToAcceptCleared: 'parley.plansToAcceptCleared',
  plansToReject: 'parley.plansToReject',
  /** The keyboard focus is in a conversation. */
  conversationFocus: 'parley.conversationFocus',
  /** The keyboard focus is in History. */
  historyFocus: 'parley.historyFocus',
  /** The side bar shows History instead of the conversation. */
  historyShown: 'parley.historyShown',
  /** Parley is active. VS Code opens a walkthrough that is listed sooner, at the moment of the installation. */
  isActive: 'parley.isActive',
  /** Actions that the user has done at least once, which complete steps of the walkthrough. */
  hasAgent: 'parley.hasAgent',
  hasSignedIn: 'parley.hasSignedIn',
  hasAnswer: 'parley.hasAnswer',
  hasAnsweredPermission: 'parley.hasAnsweredPermission',
  hasReviewed: 'parley.hasReviewed',
  hasSeenHistory: 'parley.hasSeenHistory',
  /** The window responds to its extension host. */
  windowIsOpen: 'parley.windowIsOpen',
} as const
