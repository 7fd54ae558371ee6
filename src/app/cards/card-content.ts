/** Building blocks of cards. */
import * as l10n from '@vscode/l10n'
import type { AgentExit } from '../../acp/agent.ts'
import type { Card, CardButton } from '../../bridge/conversation.ts'
import type { SettingName } from '../../common/settings.ts'

/** A card without its id. */
export type CardContent = Omit<Card, 'id'>

type Details = NonNullable<Card['details']>

export const button = {
  retry: (): CardButton => ({ action: { type: 'retry' }, label: l10n.t('Retry'), icon: 'refresh' }),
  restart: (): CardButton => ({
    action: { type: 'restart' },
    label: l10n.t('Restart Agent'),
    icon: 'debug-restart',
  }),
  openLog: (): CardButton => ({ action: { type: 'openLog' }, label: l10n.t('Open Log'), icon: 'output' }),
  openTerminal: (): CardButton => ({
    action: { type: 'openTerminal' },
    label: l10n.t('Open Terminal'),
    icon: 'terminal',
  }),
  openSettings: (setting?: SettingName): CardButton => ({
    action: { type: 'openSettings', ...(setting && { setting }) },
    label: l10n.t('Open Settings'),
    icon: 'gear',
  }),
  dismiss: (): CardButton => ({ action: { type: 'dismiss' }, label: l10n.t('Dismiss'), secondary: true }),
  startNew: (): CardButton => ({ action: { type: 'startNew' }, label: l10n.t('New Session'), icon: 'add' }),
  continueInNew: (): CardButton => ({
    action: { type: 'continueInNew' },
    label: l10n.t('Continue in a New Session'),
    icon: 'comment-discussion',
  }),
}

export function exitSentence(exit: AgentExit): string {
  if (exit.signal) return l10n.t('The agent was terminated by signal {0}.', exit.signal)
  if (typeof exit.exitCode === 'number') return l10n.t('The agent exited with code {0}.', exit.exitCode)
  if (exit.message) return sentence(exit.message)
  return l10n.t('The connection to the agent was closed.')
}

/** Returns the first line of an agent's message as a sentence with a period. A line that ends with a colon is joined with the next line. */
export function sentence(text: string): string {
  const [first = '', next] = linesOf(text)
  const said = first.endsWith(':') && next ? `${first} ${next}` : first
  return /[.!?…:]$/.test(said) ? said : `${said}.`
}

/** Returns the whole message if {@link sentence} omits a part of it; otherwise `undefined`. */
export function longerMessage(message: string): string | undefined {
  const lines = linesOf(message)
  return lines.length > (lines[0]?.endsWith(':') ? 2 : 1) ? message : undefined
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}

export function texts(...pairs: Array<[label: string, text: string | undefined]>): Details {
  return pairs.flatMap(([label, text]) => (text?.trim() ? [{ label, text: text.trim() }] : []))
}
