import type { ContributedCommand } from '../app/ids.ts'
import type { CommandContribution } from './contribution.ts'

/** The focus is in the text of an editor. `editorTextFocus` is the only context key that changes as soon as a webview gets the focus. */
const IN_TEXT =
  '!inlineChatFocused && !inBreakpointWidget && !inReferenceSearchEditor && !commentEditorFocused && editorTextFocus'
/**
 * The keys of a review work. The other conditions are needed because VS Code knows earlier than the extension that the user types, or has
 * switched to another kind of editor.
 */
const IN_REVIEW = `parley.reviewKeys && activeEditor =~ /diffeditor$/i && !activeEditorIsDirty && ${IN_TEXT}`

/** The commands with their titles, keys and places in menus. They are implemented in `app/app-commands.ts` and `workbench/commands/`. */
export const commands: Record<ContributedCommand, CommandContribution> = {
  'parley.acceptDiff': {
    title: 'Accept Proposed Change',
    icon: '$(check)',
    palette: 'resourceScheme =~ /^parley-(proposal|terminal)$/',
    keys: [{ key: 'ctrl+s', when: 'resourceScheme == parley-terminal && editorFocus' }],
    menus: {
      'editor/title': { group: 'navigation@1', when: 'resourceScheme =~ /^parley-(proposal|terminal)$/' },
    },
  },
  'parley.rejectDiff': {
    title: 'Reject Proposed Change',
    icon: '$(close)',
    palette: 'resourceScheme =~ /^parley-(proposal|terminal)$/',
    menus: {
      'editor/title': { group: 'navigation@2', when: 'resourceScheme =~ /^parley-(proposal|terminal)$/' },
    },
  },
  'parley.acceptPlan': {
    title: 'Accept Plan',
    icon: '$(check)',
    palette: false,
    keys: [{ key: 'ctrl+shift+enter', when: `resource in parley.plansToAccept && ${IN_TEXT}` }],
    menus: { 'editor/title': { group: 'navigation@1', when: 'resource in parley.plansToAccept' } },
  },
  'parley.acceptPlanCleared': {
    title: 'Accept Plan with Cleared Context',
    icon: '$(clear-all)',
    palette: false,
    menus: { 'editor/title': { group: 'navigation@2', when: 'resource in parley.plansToAcceptCleared' } },
  },
  'parley.sendPlanComments': {
    title: 'Send Comments on Plan',
    icon: '$(send)',
    palette: false,
    keys: [{ key: 'ctrl+enter', when: `resource in parley.plansToReject && ${IN_TEXT}` }],
    menus: { 'editor/title': { group: 'navigation@3', when: 'resource in parley.plansToReject' } },
  },
  'parley.newSession': { title: 'New Session', icon: '$(add)', keys: [{ key: "ctrl+' n" }] },
  'parley.newSessionWithAgent': { title: 'New Session with Agent…' },
  'parley.newSessionInTab': { title: 'New Session in Editor Tab' },
  'parley.newSessionInWorktree': { title: 'New Session in Worktree…', palette: 'gitOpenRepositoryCount > 0' },
  'parley.worktree': { title: 'Worktree…', palette: 'gitOpenRepositoryCount > 0' },
  'parley.sendTo': { title: 'Send to Several Agents…', palette: 'gitOpenRepositoryCount > 0' },
  'parley.showComparison': { title: 'Show Comparison…', palette: 'gitOpenRepositoryCount > 0' },
  'parley.cancelTurn': {
    title: 'Stop Turn',
    palette: 'parley.turnRunning',
    keys: [{ key: "ctrl+' s", when: 'parley.turnRunning' }],
  },
  'parley.restartAgent': { title: 'Restart Agent' },
  'parley.checkAgent': {
    title: 'Check Agent…',
    palette: false,
    menus: { 'parley.sideBar.agentMenu': { group: '1_agent@4' } },
  },
  'parley.showHelp': { title: 'Help' },
  'parley.showAgentLog': { title: 'Show Agent Log' },
  'parley.showProtocolTraffic': {
    title: 'Show Protocol Traffic',
    palette: false,
    menus: { 'parley.sideBar.agentMenu': { group: '1_agent@3' } },
  },
  'parley.showBackgroundSessions': { title: 'Show Background Sessions' },
  'parley.showUsage': {
    title: 'Show Usage and Cost',
    menus: { 'view/title': { group: '2_agent@5', when: 'view == parley.conversation' } },
  },
  'parley.setSessionLimit': { title: 'Set Session Limit…', palette: false },
  'parley.addSelection': {
    title: 'Add Selection to Conversation',
    palette: 'editorIsOpen',
    keys: [{ key: "ctrl+' a" }],
    menus: { 'editor/context': { group: '1_parley@1', when: 'editorHasSelection && isWorkspaceTrusted' } },
  },
  'parley.addComment': {
    title: 'Add Comment for Agent',
    icon: '$(comment)',
    palette: 'editorIsOpen && isWorkspaceTrusted',
    keys: [{ key: "ctrl+' c", when: 'editorIsOpen' }],
  },
  'parley.comments.add': {
    title: 'Add to Prompt',
    palette: false,
    menus: {
      'comments/commentThread/context': {
        group: 'inline@1',
        when: 'commentController == parley.comments && commentThreadIsEmpty',
      },
    },
  },
  'parley.comments.edit': {
    title: 'Edit Comment',
    icon: '$(edit)',
    palette: false,
    menus: {
      'comments/comment/title': {
        group: 'inline@1',
        when: 'commentController == parley.comments && comment == draft',
      },
    },
  },
  'parley.comments.save': {
    title: 'Save',
    palette: false,
    menus: {
      'comments/comment/context': { group: 'inline@2', when: 'commentController == parley.comments' },
    },
  },
  'parley.comments.cancel': {
    title: 'Cancel',
    palette: false,
    menus: {
      'comments/comment/context': { group: 'inline@1', when: 'commentController == parley.comments' },
    },
  },
  'parley.comments.delete': {
    title: 'Delete Comment',
    icon: '$(trash)',
    palette: false,
    menus: {
      'comments/commentThread/title': {
        group: 'inline@2',
        when: 'commentController == parley.comments && !commentThreadIsEmpty',
      },
    },
  },
  'parley.comments.resolve': {
    title: 'Resolve',
    icon: '$(check)',
    palette: false,
    menus: {
      'comments/commentThread/title': {
        group: 'inline@1',
        when: 'commentController == parley.comments && commentThread == sent',
      },
    },
  },
  'parley.comments.reopen': {
    title: 'Reopen',
    icon: '$(debug-restart)',
    palette: false,
    menus: {
      'comments/commentThread/title': {
        group: 'inline@1',
        when: 'commentController == parley.comments && commentThread =~ /^(addressed|resolved)$/',
      },
    },
  },
  'parley.addFile': {
    title: 'Add File to Conversation',
    menus: {
      'editor/context': {
        group: '1_parley@1',
        when: '!editorHasSelection && resourceScheme == file && isWorkspaceTrusted',
      },
    },
  },
  'parley.addTerminalSelection': {
    title: 'Add Terminal Selection to Conversation',
    palette: false,
    keys: [{ key: "ctrl+' a", when: 'terminalFocus && terminalTextSelected' }],
    menus: {
      'terminal/context': { group: '6_parley@1', when: 'terminalTextSelected && isWorkspaceTrusted' },
    },
  },
  'parley.addToConversation': {
    title: 'Add to Conversation',
    icon: { light: 'media/parley-light.svg', dark: 'media/parley-dark.svg' },
    palette: false,
    menus: {
      'explorer/context': { group: '6_parley@1', when: 'resourceScheme == file && isWorkspaceTrusted' },
      'editor/title/context': { group: '6_parley@1', when: 'resourceScheme == file && isWorkspaceTrusted' },
      'scm/resourceState/context': {
        group: '6_parley@1',
        when: 'scmProvider =~ /^(git|parley)$/ && isWorkspaceTrusted',
      },
      'scm/resourceGroup/context': { group: '6_parley@1', when: 'scmProvider == git && isWorkspaceTrusted' },
      'editor/lineNumber/context': {
        group: '6_parley@1',
        when: 'resourceScheme == file && isWorkspaceTrusted',
      },
      'scm/resourceFolder/context': {
        group: '6_parley@1',
        when: 'scmProvider =~ /^(git|parley)$/ && isWorkspaceTrusted',
      },
      'testing/item/context': { group: '6_parley@1', when: 'testing.testItemHasUri && isWorkspaceTrusted' },
      'testing/message/context': { group: '6_parley@1', when: 'isWorkspaceTrusted' },
      'debug/variables/context': { group: '6_parley@1', when: 'isWorkspaceTrusted' },
      'comments/commentThread/title': {
        group: 'inline@9',
        when: '!commentThreadIsEmpty && isWorkspaceTrusted && commentController != parley.comments',
      },
    },
  },
  'parley.fix': { title: 'Fix with Parley', palette: 'editorIsOpen' },
  'parley.explain': { title: 'Explain with Parley', palette: 'editorIsOpen' },
  'parley.generateCommitMessage': {
    title: 'Generate Commit Message',
    icon: '$(sparkle)',
    palette: 'gitOpenRepositoryCount != 0',
    menus: { 'scm/title': { group: 'navigation@9', when: 'scmProvider == git && isWorkspaceTrusted' } },
  },
  'parley.acceptForSession': {
    title: 'Accept for This Session…',
    palette: false,
    keys: [{ key: "ctrl+' e" }],
  },
  'parley.changeMode': {
    title: 'Change Mode…',
    palette: 'parley.canChangeMode',
    keys: [{ key: "ctrl+' m", when: 'parley.canChangeMode' }],
  },
  'parley.changeModel': { title: 'Change Model…', palette: 'parley.canChangeModel' },
  'parley.openInTab': { title: 'Open Conversation in Editor Tab', icon: '$(link-external)' },
  'parley.openSettings': {
    title: 'Open Settings',
    icon: '$(gear)',
    menus: { 'view/title': { group: '3_settings@1', when: 'view == parley.conversation' } },
  },
  'parley.openHistory': {
    title: 'Open History',
    icon: '$(history)',
    keys: [{ key: "ctrl+' h", when: '!parley.historyFocus' }],
    menus: {
      'view/title': { group: 'navigation@3', when: 'view == parley.conversation && !parley.historyShown' },
    },
  },
  'parley.openHistoryInTab': {
    title: 'Open History in Editor Tab',
    icon: '$(link-external)',
    palette: false,
    menus: {
      'view/title': { group: 'navigation@4', when: 'view == parley.conversation && parley.historyShown' },
    },
  },
  'parley.showConversation': {
    title: 'Show Conversation',
    icon: '$(comment-discussion)',
    palette: false,
    keys: [{ key: "ctrl+' h", when: 'parley.historyFocus' }],
  },
  'parley.refreshHistory': {
    title: 'Refresh History',
    icon: '$(refresh)',
    palette: false,
    menus: {
      'view/title': { group: 'navigation@5', when: 'view == parley.conversation && parley.historyShown' },
      'editor/title': { group: 'navigation@1', when: "activeWebviewPanelId == 'parley.historyTab'" },
    },
  },
  'parley.deleteSessions': {
    title: 'Delete Sessions…',
    palette: false,
    menus: {
      'view/title': { group: '2_delete@1', when: 'view == parley.conversation && parley.historyShown' },
      'editor/title': { group: '2_delete@1', when: "activeWebviewPanelId == 'parley.historyTab'" },
    },
  },
  'parley.exportAll': {
    title: 'Export All…',
    palette: false,
    menus: {
      'view/title': { group: '1_files@1', when: 'view == parley.conversation && parley.historyShown' },
      'editor/title': { group: '1_files@1', when: "activeWebviewPanelId == 'parley.historyTab'" },
    },
  },
  'parley.importConversations': {
    title: 'Import Conversations…',
    menus: {
      'view/title': { group: '1_files@2', when: 'view == parley.conversation && parley.historyShown' },
      'editor/title': { group: '1_files@2', when: "activeWebviewPanelId == 'parley.historyTab'" },
    },
  },
  'parley.forgetMcpInputs': { title: 'Clear MCP Server Inputs' },
  'parley.signInToMcpServer': { title: 'Sign In to MCP Server…', palette: false },
  'parley.signOutOfMcpServer': { title: 'Sign Out of MCP Server…', palette: false },
  'parley.followAgent': { title: 'Follow Agent in Editor', icon: '$(eye)' },
  'parley.showQuestion': {
    title: 'Go to Pending Request',
    palette: 'parley.questionWaits',
    keys: [{ key: "ctrl+' q", when: 'parley.questionWaits' }],
  },
  'parley.signIn': { title: 'Sign In…' },
  'parley.signOut': { title: 'Sign Out…', palette: '!parley.cannotSignOut' },
  'parley.focusConversation': {
    title: 'Focus Conversation (Chat)',
    icon: { light: 'media/parley-light.svg', dark: 'media/parley-dark.svg' },
    keys: [{ key: "ctrl+shift+'" }],
    menus: {
      'editor/title': {
        group: 'navigation@9',
        when: 'resourceScheme =~ /^(file|untitled)$/ && !isInDiffEditor',
      },
    },
  },
  'parley.find': {
    title: 'Find in Conversation',
    icon: '$(search)',
    palette: false,
    keys: [{ key: 'ctrl+f', when: 'parley.conversationFocus' }],
    menus: {
      'webview/context': {
        group: '9_find@1',
        when: "webviewId =~ /^parley\\.conversation/ && webviewSection == 'conversation'",
      },
    },
  },
  'parley.collapseTurns': {
    title: 'Collapse All Turns',
    palette: false,
    keys: [{ key: 'ctrl+k ctrl+0', when: 'parley.conversationFocus' }],
    menus: {
      'webview/context': {
        group: '9_find@2',
        when: "webviewId =~ /^parley\\.conversation/ && webviewSection == 'conversation'",
      },
    },
  },
  'parley.expandTurns': {
    title: 'Expand All Turns',
    palette: false,
    keys: [{ key: 'ctrl+k ctrl+j', when: 'parley.conversationFocus' }],
    menus: {
      'webview/context': {
        group: '9_find@3',
        when: "webviewId =~ /^parley\\.conversation/ && webviewSection == 'conversation'",
      },
    },
  },
  'parley.outline': {
    title: 'Go to Prompt (Outline)…',
    palette: 'parley.hasPrompts',
    keys: [{ key: 'ctrl+shift+o', when: 'parley.conversationFocus' }],
  },
  'parley.previousTurn': { title: 'Go to Previous Turn', palette: false },
  'parley.nextTurn': { title: 'Go to Next Turn', palette: false },
  'parley.firstTurn': { title: 'Go to First Turn', palette: false },
  'parley.latest': { title: 'Scroll to Latest Message', palette: false },
  'parley.nextQuestion': { title: 'Go to Next Pending Request', palette: false },
  'parley.copyMessage': {
    title: 'Copy Message',
    palette: false,
    menus: {
      'webview/context': {
        group: '5_message@1',
        when: 'webviewId =~ /^parley\\.conversation/ && webviewSection =~ /^(prompt|message|work)$/',
      },
    },
  },
  'parley.copyConversation': {
    title: 'Copy Conversation as Markdown',
    palette: false,
    menus: { 'parley.conversation.exportMenu': { group: '1_text@1' } },
  },
  'parley.copyLink': {
    title: 'Copy Link to Session',
    palette: false,
    menus: { 'parley.conversation.exportMenu': { group: '1_text@4' } },
  },
  'parley.exportConversation': {
    title: 'Export Conversation…',
    palette: 'parley.hasSession',
    menus: { 'parley.conversation.exportMenu': { group: '1_text@3' } },
  },
  'parley.openConversationAsDocument': {
    title: 'Open Conversation as Document',
    palette: false,
    menus: { 'parley.conversation.exportMenu': { group: '1_text@2' } },
  },
  'parley.editPrompt': {
    title: 'Edit and Resend',
    palette: false,
    menus: {
      'webview/context': {
        group: '6_prompt@1',
        when: "webviewId =~ /^parley\\.conversation/ && webviewSection == 'prompt'",
      },
    },
  },
  'parley.sendAgain': {
    title: 'Resend Prompt',
    palette: false,
    menus: {
      'webview/context': {
        group: '6_prompt@2',
        when: "webviewId =~ /^parley\\.conversation/ && webviewSection == 'prompt'",
      },
    },
  },
  'parley.restoreCheckpoint': {
    title: 'Restore to Here…',
    palette: 'parley.hasPrompts',
    menus: {
      'webview/context': {
        group: '6_prompt@3',
        when: "webviewId =~ /^parley\\.conversation/ && webviewSection == 'prompt'",
      },
    },
  },
  'parley.undoRestore': { title: 'Undo Restore', palette: false },
  'parley.continueSession': {
    title: 'Fork or Continue Session…',
    palette: 'parley.hasSession',
    menus: {
      'webview/context': [
        {
          group: '6_prompt@4',
          when: 'webviewId =~ /^parley\\.conversation/ && webviewSection =~ /^(prompt|message|work)$/',
        },
        {
          group: '8_session@1',
          when: "webviewId =~ /^parley\\.conversation/ && webviewSection == 'conversation'",
        },
      ],
    },
  },
  'parley.quoteSelection': {
    title: 'Quote Selection',
    palette: false,
    menus: {
      'webview/context': {
        group: '5_message@2',
        when: 'webviewId =~ /^parley\\.conversation/ && webviewSection =~ /^(message|work)$/',
      },
    },
  },
  'parley.renameSession': { title: 'Rename Session…', palette: false },
  'parley.showBranches': { title: 'Show Branches…', palette: 'parley.hasSession' },
  'parley.forkSession': { title: 'Fork Session', icon: '$(repo-forked)', palette: false },
  'parley.configureProviders': { title: 'Configure Providers…', palette: '!parley.cannotConfigureProviders' },
  'parley.managePermissionRules': { title: 'Manage Permission Rules' },
  'parley.history.show': {
    title: 'Show',
    palette: false,
    menus: {
      'webview/context': {
        group: '1_open@1',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session && parleyOpen',
      },
    },
  },
  'parley.history.load': {
    title: 'Load',
    palette: false,
    menus: {
      'webview/context': {
        group: '1_open@2',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session && parleyCanLoad',
      },
    },
  },
  'parley.history.resume': {
    title: 'Resume',
    palette: false,
    menus: {
      'webview/context': {
        group: '1_open@3',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session && parleyCanResume',
      },
    },
  },
  'parley.history.fork': {
    title: 'Fork',
    palette: false,
    menus: {
      'webview/context': {
        group: '1_open@4',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session && parleyCanFork',
      },
    },
  },
  'parley.history.rename': {
    title: 'Rename…',
    palette: false,
    menus: {
      'webview/context': {
        group: '2_keep@1',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session',
      },
    },
  },
  'parley.history.copyLink': {
    title: 'Copy Link to Session',
    palette: false,
    menus: { 'parley.history.exportMenu': { group: '1_text@1' } },
  },
  'parley.history.export': {
    title: 'Export Conversation…',
    palette: false,
    menus: { 'parley.history.exportMenu': { group: '1_text@2' } },
  },
  'parley.history.pin': {
    title: 'Pin',
    palette: false,
    menus: {
      'webview/context': {
        group: '2_keep@2',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session && !parleyPinned',
      },
    },
  },
  'parley.history.unpin': {
    title: 'Unpin',
    palette: false,
    menus: {
      'webview/context': {
        group: '2_keep@3',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session && parleyPinned',
      },
    },
  },
  'parley.history.archive': {
    title: 'Archive',
    palette: false,
    menus: {
      'webview/context': {
        group: '2_keep@4',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session && parleyCanArchive',
      },
    },
  },
  'parley.history.unarchive': {
    title: 'Unarchive',
    palette: false,
    menus: {
      'webview/context': {
        group: '2_keep@5',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session && parleyCanUnarchive',
      },
    },
  },
  'parley.history.close': {
    title: 'Close',
    palette: false,
    menus: {
      'webview/context': {
        group: '3_end@1',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session && parleyCanClose',
      },
    },
  },
  'parley.history.delete': {
    title: 'Delete',
    palette: false,
    menus: {
      'webview/context': {
        group: '3_end@2',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session && parleyCanDelete',
      },
    },
  },
  'parley.openSession': { title: 'Open Session…', icon: '$(list-selection)', keys: [{ key: "ctrl+' o" }] },
  'parley.openBeside': {
    title: 'Open Conversation to the Side',
    icon: '$(split-horizontal)',
    palette: false,
  },
  'parley.moveToSideBar': {
    title: 'Move Conversation to Side Bar',
    icon: '$(layout-sidebar-left)',
    palette: false,
  },
  'parley.manageAgents': {
    title: 'Manage Agents',
    menus: { 'view/title': { group: '2_agent@4', when: 'view == parley.conversation' } },
  },
  'parley.showMcpServers': { title: 'MCP Servers' },
  'parley.addMcpServer': { title: 'Add MCP Server…', palette: false },
  'parley.selectDefaultAgent': { title: 'Select Default Agent…', palette: false },
  'parley.installAgent': { title: 'Install Agent…', palette: 'isWorkspaceTrusted' },
  'parley.updateAgent': { title: 'Update Agent…', palette: false },
  'parley.removeAgent': { title: 'Remove Agent…', palette: false },
  'parley.sideBar.newSession': {
    title: 'New Session',
    icon: '$(add)',
    palette: false,
    keys: [{ key: "ctrl+' n", when: "focusedView == 'parley.conversation'" }],
    menus: {
      'view/title': { group: 'navigation@1', when: 'view == parley.conversation' },
      'parley.sideBar.newSessionMenu': { group: '1_new@1' },
    },
  },
  'parley.sideBar.newSessionWithAgent': {
    title: 'New Session with Agent…',
    palette: false,
    menus: { 'parley.sideBar.newSessionMenu': { group: '1_new@2' } },
  },
  'parley.sideBar.newSessionInTab': {
    title: 'New Session in Editor Tab',
    palette: false,
    menus: { 'parley.sideBar.newSessionMenu': { group: '1_new@3' } },
  },
  'parley.sideBar.newSessionInWorktree': {
    title: 'New Session in Worktree…',
    palette: false,
    menus: { 'parley.sideBar.newSessionMenu': { group: '1_new@4', when: 'gitOpenRepositoryCount > 0' } },
  },
  'parley.sideBar.openSession': {
    title: 'Open Session…',
    icon: '$(list-selection)',
    palette: false,
    menus: { 'view/title': { group: '1_session@2', when: 'view == parley.conversation' } },
  },
  'parley.sideBar.openInTab': {
    title: 'Open Conversation in Editor Tab',
    icon: '$(link-external)',
    palette: false,
    menus: {
      'view/title': { group: 'navigation@4', when: 'view == parley.conversation && !parley.historyShown' },
    },
  },
  'parley.sideBar.openBeside': {
    title: 'Open Conversation to the Side',
    icon: '$(split-horizontal)',
    palette: false,
    menus: {
      'view/title': { group: '1_session@3', when: 'view == parley.conversation && !parley.historyShown' },
    },
  },
  'parley.sideBar.find': {
    title: 'Find in Conversation',
    icon: '$(search)',
    palette: false,
    menus: {
      'view/title': { group: '0_find@1', when: 'view == parley.conversation && !parley.historyShown' },
    },
  },
  'parley.sideBar.continueSession': {
    title: 'Fork or Continue Session…',
    palette: false,
    menus: { 'parley.sideBar.newSessionMenu': { group: '2_context@1', when: '!parley.historyShown' } },
  },
  'parley.sideBar.copyConversation': {
    title: 'Copy Conversation as Markdown',
    palette: false,
    menus: { 'parley.sideBar.exportMenu': { group: '1_text@1' } },
  },
  'parley.sideBar.openConversationAsDocument': {
    title: 'Open Conversation as Document',
    palette: false,
    menus: { 'parley.sideBar.exportMenu': { group: '1_text@2' } },
  },
  'parley.sideBar.exportConversation': {
    title: 'Export Conversation…',
    palette: false,
    menus: { 'parley.sideBar.exportMenu': { group: '1_text@3' } },
  },
  'parley.sideBar.restartAgent': {
    title: 'Restart Agent',
    palette: false,
    menus: { 'parley.sideBar.agentMenu': { group: '1_agent@1', when: '!parley.historyShown' } },
  },
  'parley.sideBar.showAgentLog': {
    title: 'Show Agent Log',
    palette: false,
    menus: { 'parley.sideBar.agentMenu': { group: '1_agent@2', when: '!parley.historyShown' } },
  },
  'parley.sideBar.showConversation': {
    title: 'Show Conversation',
    icon: '$(comment-discussion)',
    palette: false,
    menus: {
      'view/title': { group: 'navigation@3', when: 'view == parley.conversation && parley.historyShown' },
    },
  },
  'parley.tab.moveToSideBar': {
    title: 'Move Conversation to Side Bar',
    icon: '$(layout-sidebar-left)',
    palette: false,
    menus: {
      'editor/title': { group: 'navigation@2', when: "activeWebviewPanelId == 'parley.conversationTab'" },
    },
  },
  'parley.tab.newSession': {
    title: 'New Session',
    palette: false,
    menus: { 'parley.tab.newSessionMenu': { group: '1_new@1' } },
  },
  'parley.tab.newSessionWithAgent': {
    title: 'New Session with Agent…',
    palette: false,
    menus: { 'parley.tab.newSessionMenu': { group: '1_new@2' } },
  },
  'parley.tab.newSessionInTab': {
    title: 'New Session in Editor Tab',
    palette: false,
    menus: { 'parley.tab.newSessionMenu': { group: '1_new@3' } },
  },
  'parley.tab.newSessionInWorktree': {
    title: 'New Session in Worktree…',
    palette: false,
    menus: { 'parley.tab.newSessionMenu': { group: '1_new@4', when: 'gitOpenRepositoryCount > 0' } },
  },
  'parley.tab.continueSession': {
    title: 'Fork or Continue Session…',
    palette: false,
    menus: { 'parley.tab.newSessionMenu': { group: '2_context@1' } },
  },
  'parley.tab.find': {
    title: 'Find in Conversation',
    icon: '$(search)',
    palette: false,
    menus: {
      'editor/title': { group: '1_parley@1', when: "activeWebviewPanelId == 'parley.conversationTab'" },
    },
  },
  'parley.tab.openConversationAsDocument': {
    title: 'Open Conversation as Document',
    palette: false,
    menus: {
      'editor/title': { group: '1_parley@2', when: "activeWebviewPanelId == 'parley.conversationTab'" },
    },
  },
  'parley.tab.exportConversation': {
    title: 'Export Conversation…',
    palette: false,
    menus: {
      'editor/title': { group: '1_parley@3', when: "activeWebviewPanelId == 'parley.conversationTab'" },
    },
  },
  'parley.nextChange': {
    title: 'Next Agent Change',
    icon: '$(arrow-circle-down)',
    palette: false,
    keys: [
      { key: "ctrl+' down", when: 'parley.hasChanges' },
      { key: 'alt+f5', when: IN_REVIEW },
    ],
    menus: {
      'editor/title': [
        {
          group: 'navigation@2',
          when: 'resourceScheme =~ /^(file|parley-base)$/ && resourcePath in parley.changedFiles && !parley.reviewShown',
        },
        { group: 'navigation@2', when: 'parley.reviewLacksArrows' },
      ],
    },
  },
  'parley.previousChange': {
    title: 'Previous Agent Change',
    icon: '$(arrow-circle-up)',
    palette: false,
    keys: [
      { key: "ctrl+' up", when: 'parley.hasChanges' },
      { key: 'shift+alt+f5', when: IN_REVIEW },
    ],
    menus: {
      'editor/title': [
        {
          group: 'navigation@1',
          when: 'resourceScheme =~ /^(file|parley-base)$/ && resourcePath in parley.changedFiles && !parley.reviewShown',
        },
        { group: 'navigation@1', when: 'parley.reviewLacksArrows' },
      ],
    },
  },
  'parley.keepChange': {
    title: 'Keep Change',
    icon: '$(check)',
    palette: false,
    keys: [
      {
        key: "ctrl+' k",
        when: 'parley.hasChanges && !terminalFocus && (editorFocus || parley.reviewShown || resourcePath in parley.changedFiles)',
      },
      { key: 'ctrl+y', when: IN_REVIEW },
    ],
    menus: { 'scm/change/title': { group: 'inline@1', when: 'originalResourceScheme == parley-base' } },
  },
  'parley.revertChange': {
    title: 'Revert Change',
    icon: '$(discard)',
    palette: false,
    keys: [
      {
        key: "ctrl+' u",
        when: 'parley.hasChanges && !terminalFocus && (editorFocus || parley.reviewShown || resourcePath in parley.changedFiles)',
      },
      { key: 'ctrl+n', when: IN_REVIEW },
    ],
    menus: { 'scm/change/title': { group: 'inline@2', when: 'originalResourceScheme == parley-base' } },
  },
  'parley.showOld': {
    title: 'Show Old Text of Change',
    icon: '$(diff-removed)',
    palette: false,
    keys: [{ key: "ctrl+' d", when: 'parley.hasChanges && editorFocus' }],
  },
  'parley.keepFileChanges': {
    title: 'Keep Changes in File',
    icon: '$(check-all)',
    palette: false,
    menus: {
      'view/item/context': { group: 'inline@1', when: 'view == parley.review && viewItem == undecided' },
      'editor/title': {
        group: 'navigation@3',
        when: 'resourceScheme =~ /^(file|parley-base)$/ && resourcePath in parley.changedFiles && !parley.reviewShown',
      },
      'scm/resourceState/context': { group: 'inline@1', when: 'scmProvider == parley' },
    },
  },
  'parley.revertFileChanges': {
    title: 'Revert Changes in File',
    icon: '$(discard)',
    palette: false,
    menus: {
      'view/item/context': { group: 'inline@2', when: 'view == parley.review && viewItem == undecided' },
      'editor/title': {
        group: 'navigation@4',
        when: 'resourceScheme =~ /^(file|parley-base)$/ && resourcePath in parley.changedFiles && !parley.reviewShown',
      },
      'scm/resourceState/context': { group: 'inline@2', when: 'scmProvider == parley' },
    },
  },
  'parley.reviewChanges': {
    title: 'Review Agent Changes',
    icon: '$(diff-multiple)',
    palette: 'parley.hasChanges',
    keys: [{ key: "ctrl+' r", when: 'parley.hasChanges' }],
    menus: {
      'scm/resourceGroup/context': { group: 'inline@1', when: 'scmProvider == parley' },
      'scm/title': { group: 'navigation@1', when: 'scmProvider == parley' },
    },
  },
  'parley.revertTurnChanges': {
    title: 'Revert Changes of Last Turn…',
    palette: 'parley.hasSession && parley.hasChanges',
  },
  'parley.restoreReverted': { title: 'Restore Last Reverted Changes' },
  'parley.keepAllChanges': {
    title: 'Keep All Agent Changes (Accept)',
    icon: '$(check-all)',
    palette: 'parley.hasChanges',
    menus: {
      'editor/title': { group: 'navigation@3', when: 'parley.reviewShown' },
      'scm/resourceGroup/context': { group: 'inline@2', when: 'scmProvider == parley' },
    },
  },
  'parley.revertAllChanges': {
    title: 'Revert All Agent Changes…',
    icon: '$(discard)',
    palette: 'parley.hasChanges',
    menus: {
      'editor/title': { group: 'navigation@4', when: 'parley.reviewShown' },
      'scm/resourceGroup/context': { group: 'inline@3', when: 'scmProvider == parley' },
    },
  },
  'parley.undoDecision': {
    title: 'Undo Last Keep or Revert',
    palette: 'parley.canUndoDecision',
    keys: [
      { key: "ctrl+' z", when: 'parley.canUndoDecision' },
      { key: 'ctrl+z', when: `parley.decidedLast && ${IN_REVIEW}` },
    ],
    menus: { 'view/title': { group: '1_undo@1', when: 'view == parley.review && parley.canUndoDecision' } },
  },
  'parley.toggleDecided': {
    title: 'Show or Hide Decided Files',
    icon: '$(filter)',
    palette: false,
    menus: { 'view/title': { group: 'navigation@3', when: 'view == parley.review' } },
  },
  'parley.commitReviewed': {
    title: 'Commit…',
    icon: '$(git-commit)',
    palette: false,
    menus: {
      'view/title': {
        group: 'navigation@1',
        when: 'view == parley.review && parley.reviewDone && gitOpenRepositoryCount != 0',
      },
    },
  },
}
