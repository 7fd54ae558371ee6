/** Building blocks of cards. */
import * as l10n from '@vscode/l10n'
import type { AgentExit } from '../../acp/agent.ts'
import type { Card, CardButton } from '../../bridge/conversation.ts'
import type { SettingName } from '../../common/settings.ts'

/** The actions of a card's buttons; the webview sends back their ids. */
export const CardButtonId = {
  retry: 'retry',
  restart: 'restart',
  openLog: 'open-log',
  openTerminal: 'open-terminal',
  /** followed by the setting's name without `parley.`; by nothing for all */
  openSettings: 'open-settings:',
  manageTrust: 'manage-trust',
  pickAgent: 'pick-agent',
  dismiss: 'dismiss',
  startNew: 'start-new',
  cancelSignIn: 'cancel-sign-in',
  abandonTurn: 'abandon-turn',
  giveUp: 'give-up',
  /** followed by the agent's id in the registry */
  install: 'install:',
  takeOver: 'take-over',
  fork: 'fork',
  /** followed by the method's id */
  signIn: 'sign-in:',
} as const

type Details = NonNullable<Card['details']>

export const button = {
  retry: (): CardButton => ({ id: CardButtonId.retry, label: l10n.t('Retry'), icon: 'refresh' }),
  restart: (): CardButton => ({
    id: CardButtonId.restart,
    label: l10n.t('Restart Agent'),
    icon: 'debug-restart',
  }),
  openLog: (): CardButton => ({ id: CardButtonId.openLog, label: l10n.t('Open Log'), icon: 'output' }),
  openTerminal: (): CardButton => ({
    id: CardButtonId.openTerminal,
    label: l10n.t('Open Terminal'),
    icon: 'terminal',
  }),
  openSettings: (setting?: SettingName): CardButton => ({
    id: `${CardButtonId.openSettings}${setting ?? ''}`,
    label: l10n.t('Open Settings'),
    icon: 'gear',
  }),
  dismiss: (): CardButton => ({ id: CardButtonId.dismiss, label: l10n.t('Dismiss'), secondary: true }),
  startNew: (): CardButton => ({ id: CardButtonId.startNew, label: l10n.t('New Session'), icon: 'add' }),
}

export function exitSentence(exit: AgentExit): string {
  if (exit.signal) return l10n.t('The agent was terminated by signal {0}.', exit.signal)
  if (typeof exit.exitCode === 'number') return l10n.t('The agent exited with code {0}.', exit.exitCode)
  if (exit.message) return sentence(exit.message)
  return l10n.t('The connection to the agent was closed.')
}

/** Agents' messages may lack a period at the end or have several lines; a line with a colon introduces the next one. */
export function sentence(text: string): string {
  const [first = '', next] = linesOf(text)
  const said = first.endsWith(':') && next ? `${first} ${next}` : first
  return /[.!?…:]$/.test(said) ? said : `${said}.`
}

/** The whole message, if the sentence shown omits a part of it. */
export function moreThanSaid(message: string): string | undefined {
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
