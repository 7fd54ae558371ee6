import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { Owner } from '../common/disposable.ts'
import type { Activities } from '../sessions/activities.ts'
import type { Phase } from '../sessions/conversation-controller.ts'
import { sessionTitle } from '../sessions/session-title.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import { ContextKey, ViewId } from './ids.ts'

/** The agent and what it is doing, in the status bar; a click leads to the conversation. */
export class StatusBar extends Owner {
  readonly #item: vscode.StatusBarItem
  readonly #surfaces: ConversationSurfaces
  readonly #activities: Activities
  #turnRunning = false

  constructor(surfaces: ConversationSurfaces, activities: Activities) {
    super()
    this.#surfaces = surfaces
    this.#activities = activities
    this.#item = this.register(
      vscode.window.createStatusBarItem('parley.status', vscode.StatusBarAlignment.Right, 100),
    )
    this.#item.name = 'Parley'
    this.#item.command = `${ViewId.conversation}.focus`
    this.register(surfaces.onDidChange(() => this.#update()))
    this.register(activities.onDidChange(() => this.#update()))
    this.#update()
  }

  #update(): void {
    const { current, phase, failures, agentName } = this.#surfaces.active.controller
    const activity = current?.session.state.activity ?? 'idle'
    const running = phase === 'ready' && activity !== 'idle'
    if (running !== this.#turnRunning) {
      this.#turnRunning = running
      void vscode.commands.executeCommand('setContext', ContextKey.turnRunning, running)
    }
    const waiting = this.#activities.count('requires_action')
    const working = this.#activities.count('running')
    if (phase === 'empty' && failures.size === 0 && waiting + working === 0) {
      this.#item.hide()
      return
    }
    const { icon, word, attention } = describe(phase, failures.size > 0, waiting, working)
    const name = agentName ?? 'Parley'
    const title = current && sessionTitle(current.session.state)
    this.#item.text = `$(${icon}) ${name}`
    this.#item.accessibilityInformation = { label: `${name}: ${word}` }
    this.#item.tooltip = title ? `${title}\n${name}: ${word}` : `${name}: ${word}`
    this.#item.backgroundColor = attention
      ? new vscode.ThemeColor('statusBarItem.warningBackground')
      : undefined
    this.#item.show()
  }
}

function describe(
  phase: Phase,
  failed: boolean,
  waiting: number,
  working: number,
): { icon: string; word: string; attention: boolean } {
  if (waiting > 0) return { icon: 'bell-dot', word: l10n.t('needs your answer'), attention: true }
  if (phase === 'starting') return { icon: 'loading~spin', word: l10n.t('starting'), attention: false }
  if (phase === 'loading') return { icon: 'loading~spin', word: l10n.t('loading'), attention: false }
  if (working > 0) return { icon: 'sync~spin', word: l10n.t('working'), attention: false }
  // with a conversation that goes on, what failed was something beside it
  if (phase === 'ended' || (failed && phase !== 'ready'))
    return { icon: 'error', word: l10n.t('stopped'), attention: false }
  return { icon: 'comment-discussion', word: l10n.t('ready'), attention: false }
}
