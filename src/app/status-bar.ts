import * as l10n from '@vscode/l10n'
import { Owner } from '../common/disposable.ts'
import type { ViewPhase } from '../conversation/phases.ts'
import { needsAnswerText } from '../conversation/requests/pending-text.ts'
import { isError } from '../sessions/failures.ts'
import type { SessionIndicators } from '../sessions/session-indicators.ts'
import { titleOf } from '../sessions/session-title.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import { CommandId } from './ids.ts'
import type { WindowWorktrees } from './window-worktrees.ts'
import type { StatusItem, Workbench } from './workbench.ts'

/** The maximum length of a worktree's name in the status bar, in characters. */
const MAX_NAME = 24

/** Shows the agent and its activity in the status bar; a click reveals the conversation. */
export class StatusBar extends Owner {
  readonly #workbench: Pick<Workbench, 'showStatusItem'>
  readonly #surfaces: ConversationSurfaces
  readonly #indicators: SessionIndicators
  readonly #worktrees: WindowWorktrees
  /** the shown item as JSON */
  #shown = ''

  constructor(
    workbench: Pick<Workbench, 'showStatusItem'>,
    surfaces: ConversationSurfaces,
    indicators: SessionIndicators,
    worktrees: WindowWorktrees,
  ) {
    super()
    this.#workbench = workbench
    this.#surfaces = surfaces
    this.#indicators = indicators
    this.#worktrees = worktrees
    for (const { onDidChange } of [surfaces, indicators, worktrees])
      this.register(onDidChange(() => this.#update()))
    this.#update()
  }

  #update(): void {
    const item = this.#item()
    const shown = JSON.stringify(item) ?? ''
    if (shown === this.#shown) return
    this.#shown = shown
    this.#workbench.showStatusItem(item)
  }

  #item(): StatusItem | undefined {
    const { current, phase, failures, agentName } = this.#surfaces.active.controller
    const waiting = this.#indicators.count('waiting')
    const working = this.#indicators.count('running')
    const ended = { done: this.#indicators.count('done'), failed: this.#indicators.count('failed') }
    const hasFailed = [...failures.values()].some(isError)
    if (phase === 'empty' && !hasFailed && waiting + working + ended.done + ended.failed === 0)
      return undefined
    const { icon, word, attention } = describe(phase, hasFailed, waiting, working, ended)
    // the waiting session may be another one than the displayed session
    const asking = waiting === 1 ? this.#indicators.with('waiting')[0] : undefined
    const name = asking?.agentName ?? agentName ?? 'Parley'
    const title = current && titleOf(current.session)
    const meant = asking ?? current
    const worktree = meant && this.#worktrees.of(meant.plan.setup.cwd)
    const branch = worktree?.branch === undefined ? '' : ` (${worktree.branch})`
    const where = worktree ? [l10n.t('Worktree {0}', `${worktree.name}${branch}`)] : []
    const label = [`${name}: ${word}`, ...where]
    const others = othersLine(waiting, working, ended)
    return {
      text: `$(${icon}) ${name}${worktree ? ` · ${shortened(worktree.name)}` : ''}`,
      label: label.join(', '),
      tooltip: [...(title ? [title] : []), ...label, ...others].join('\n'),
      command: commandFor(attention, others.length > 0),
      attention,
    }
  }
}

/**
 * Returns the command that a click runs: it goes to the session that needs the user, or lets the user choose if several sessions have
 * something to report.
 */
function commandFor(attention: boolean, several: boolean): string {
  if (attention) return CommandId.showQuestion
  return several ? CommandId.openSession : CommandId.showConversation
}

/** Returns a short name, since there's little space in the status bar. */
function shortened(name: string): string {
  const letters = Array.from(name)
  return letters.length > MAX_NAME ? `${letters.slice(0, MAX_NAME - 1).join('')}…` : name
}

/** Returns a line with the activity of all sessions of the window; empty if at most one has something to report. */
function othersLine(waiting: number, working: number, ended: { done: number; failed: number }): string[] {
  const counts: Array<[number, string]> = [
    [waiting, l10n.t('waiting for your answer')],
    [working, l10n.t('working')],
    [ended.failed, l10n.t('failed')],
    [ended.done, l10n.t('done')],
  ]
  const shown = counts.filter(([count]) => count > 0)
  const sum = shown.reduce((all, [count]) => all + count, 0)
  return sum > 1 ? [shown.map(([count, word]) => `${count} ${word}`).join(', ')] : []
}

function describe(
  phase: ViewPhase,
  failed: boolean,
  waiting: number,
  working: number,
  ended: { done: number; failed: number },
): { icon: string; word: string; attention: boolean } {
  if (waiting > 0) return { icon: 'bell-dot', word: needsAnswerText(l10n.t), attention: true }
  if (phase === 'starting') return { icon: 'loading~spin', word: l10n.t('Starting'), attention: false }
  if (phase === 'loading') return { icon: 'loading~spin', word: l10n.t('Loading'), attention: false }
  // the icon doesn't spin: it's visible for many minutes, and each frame of an animation redraws the window
  if (working > 0) return { icon: 'sync', word: l10n.t('Working'), attention: false }
  if (ended.failed > 0) return { icon: 'error', word: l10n.t('Failed'), attention: false }
  if (ended.done > 0) return { icon: 'pass', word: l10n.t('Done'), attention: false }
  // while the phase is `ready`, the conversation continues, and something else has failed
  if (phase === 'ended' || (failed && phase !== 'ready'))
    return { icon: 'error', word: l10n.t('Stopped'), attention: false }
  return { icon: 'comment-discussion', word: l10n.t('Ready'), attention: false }
}
