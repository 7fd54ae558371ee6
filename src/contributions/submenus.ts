import { type SubmenuContribution, text } from './contribution.ts'

/** The submenus. Their entries are defined with the commands. */
export const submenus: Record<string, SubmenuContribution> = {
  'parley.sideBar.newSessionMenu': {
    label: text('menus.newSession', 'New Session…'),
    icon: '$(chevron-down)',
    menus: { 'view/title': { group: 'navigation@2', when: 'view == parley.conversation' } },
  },
  'parley.tab.newSessionMenu': {
    label: text('menus.newSession', 'New Session…'),
    icon: '$(add)',
    menus: {
      'editor/title': { group: 'navigation@1', when: "activeWebviewPanelId == 'parley.conversationTab'" },
    },
  },
  'parley.sideBar.exportMenu': {
    label: text('menus.export', 'Copy and Export'),
    menus: {
      'view/title': { group: '1_session@4', when: 'view == parley.conversation && !parley.historyShown' },
    },
  },
  'parley.sideBar.agentMenu': {
    label: text('menus.agent', 'Agent'),
    menus: { 'view/title': { group: '2_agent@1', when: 'view == parley.conversation' } },
  },
  'parley.history.exportMenu': {
    label: text('menus.export', 'Copy and Export'),
    menus: {
      'webview/context': {
        group: '2_keep@6',
        when: 'webviewId =~ /^parley\\.(conversation|historyTab)$/ && webviewSection == session',
      },
    },
  },
  'parley.conversation.exportMenu': {
    label: text('menus.export', 'Copy and Export'),
    menus: {
      'webview/context': {
        group: '7_conversation@1',
        when: "webviewId =~ /^parley\\.conversation/ && webviewSection == 'conversation'",
      },
    },
  },
}
