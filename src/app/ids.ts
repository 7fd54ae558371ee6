/** Returns an object that maps each name to an id: the prefix, a dot and the name. */
function ids<const Prefix extends string, const Name extends string>(
  prefix: Prefix,
  names: readonly Name[],
): { readonly [N in Name]: `${Prefix}.${N}` } {
  return Object.fromEntries(names.map(name => [name, `${prefix}.${name}`])) as ReturnType<
    typeof ids<Prefix, Name>
  >
}

/**
 * The commands of the palette, menus and keybindings, by their names in code. All commands except {@link HiddenCommandId} are declared in
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

/** The buttons that both kinds of title bars have. */
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

/** The buttons in the title bar of the view in the side bar. They apply to this view, whichever conversation is active. */
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

/** The buttons in the title bar of a conversation's editor tab. They apply to this tab. */
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

/** The buttons of the user's comments on lines. Their arguments are VS Code's comments and threads. */
export const CommentMenuId = ids('parley.comments', [
  'add',
  'edit',
  'save',
  'cancel',
  'delete',
  'resolve',
  'reopen',
])

/**
 * Buttons above the diff of a proposed change, including changes by an agent in a terminal. Webviews can't run them, because only the user
 * may decide.
 */
export const ProposalId = {
  accept: 'parley.acceptDiff',
  reject: 'parley.rejectDiff',
} as const

/** Buttons of a plan's document. Their argument is the document's URI; without an argument, they apply to the plan in the active editor. */
export const PlanId = {
  accept: 'parley.acceptPlan',
  acceptCleared: 'parley.acceptPlanCleared',
  sendComments: 'parley.sendPlanComments',
} as const

/** Commands that aren't declared in the manifest, so that the command palette doesn't list them. */
export const HiddenCommandId = {
  /** Runs when the user clicks a link in a notification. Its argument is a random id that only the notification knows. */
  answerNotification: 'parley.answerNotification',
  /** Opens a link into Parley. Its arguments are the link's path and query. */
  openLink: 'parley.openLink',
  /** Goes to a file in the review. Its argument is the path. */
  reviewFile: 'parley.reviewFile',
  /** VS Code's command for a former History view. Users' keybindings may still use it. */
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
/** The type of the editor tab that shows a recording. It isn't restored after a reload, because the recording is gone then. */
export const REPLAY_VIEW_TYPE = 'parley.replay'
export const COMPARE_VIEW_TYPE = 'parley.compare'

export const ContextKey = {
  /** A turn is running in the active conversation. */
  turnRunning: 'parley.turnRunning',
  /** The active conversation has a session. */
  hasSession: 'parley.hasSession',
  /** The user has sent a prompt in the active session. */
  hasPrompts: 'parley.hasPrompts',
  /** Files were restored in the active session, and the user hasn't undone the restore. */
  canUndoRestore: 'parley.canUndoRestore',
  /** The agent of the active session supports changing the mode or model. */
  canChangeMode: 'parley.canChangeMode',
  canChangeModel: 'parley.canChangeModel',
  /** The agent of the active session is known not to support these commands. */
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
  /** This version of VS Code shows the review without buttons of its own for the previous and the next change. */
  reviewLacksArrows: 'parley.reviewLacksArrows',
  /** Single keys decide about changes in the active editor, which is a review or the diff of a file in which the user doesn't edit text. */
  reviewKeys: 'parley.reviewKeys',
  /** A review has files (`reviewOpen`), and all of their changes are decided (`reviewDone`). */
  reviewOpen: 'parley.reviewOpen',
  reviewDone: 'parley.reviewDone',
  /** The user decided about changes in this window, and the decision can be undone. */
  canUndoDecision: 'parley.canUndoDecision',
  /** The decision to undo next is about changes, and the user hasn't edited text since. */
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
  /** Parley is active. Without this condition, VS Code would open the walkthrough at the moment of the installation. */
  isActive: 'parley.isActive',
  /** The user has done this action at least once, which completes a step of the walkthrough. */
  hasAgent: 'parley.hasAgent',
  hasSignedIn: 'parley.hasSignedIn',
  hasAnswer: 'parley.hasAnswer',
  hasAnsweredPermission: 'parley.hasAnsweredPermission',
  hasReviewed: 'parley.hasReviewed',
  hasSeenHistory: 'parley.hasSeenHistory',
  /** The window still responds to its extension host. */
  windowIsOpen: 'parley.windowIsOpen',
} as const
