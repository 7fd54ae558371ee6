import * as l10n from '@vscode/l10n'
import type { AgentExit } from '../../acp/agent.ts'
import type { Card, CardButton } from '../../bridge/conversation.ts'
import { isSettingName, type SettingName } from '../../common/settings.ts'
import { chosenName, type LostOption } from '../../conversation/option-changes.ts'
import type { Attempt, Failure } from '../../sessions/failures.ts'
import { button, type CardContent, exitSentence, longerMessage, sentence, texts } from './card-content.ts'
import { signInCard } from './sign-in-card.ts'
import { startCard } from './start-card.ts'

/** The cards of all failures, by type: what happened, what was searched, and the actions. */
const CARDS: {
  [T in Failure['type']]: (failure: Extract<Failure, { type: T }>, canInstall: boolean) => CardContent
} = {
  'no-agent': (_failure, canInstall) => ({
    kind: 'info',
    title: l10n.t('Choose an agent'),
    text: canInstall
      ? l10n.t(
          'Install Claude Code, Codex, Gemini CLI or another ACP agent, add your own in settings, or try the demo.',
        )
      : l10n.t('Add an agent in settings, or try the demo.'),
    buttons: [button.openSettings('agents')],
  }),
  untrusted: () => ({
    kind: 'warning',
    title: l10n.t('Restricted Mode'),
    text: l10n.t('Agents can run commands and change files. To start one here, trust this folder.'),
    buttons: [
      { action: { type: 'manageTrust' }, label: l10n.t('Manage Trust'), icon: 'workspace-untrusted' },
    ],
  }),
  'default-agent': (failure, canInstall) => {
    const { message, installable } = failure.problem
    const install: CardButton[] =
      canInstall && installable
        ? [
            {
              action: { type: 'install', registryId: installable.id },
              label: l10n.t('Install {0}', installable.name),
              icon: 'cloud-download',
            },
          ]
        : []
    return {
      kind: 'warning',
      title: l10n.t("The default agent isn't available"),
      text: message,
      buttons: [
        ...install,
        { action: { type: 'pickAgent' }, label: l10n.t('Choose an Agent'), icon: 'list-unordered' },
        button.openSettings('defaultAgent'),
      ],
    }
  },
  'unknown-agent': failure => ({
    kind: 'error',
    title: l10n.t('Agent “{0}” not found', failure.agentName),
    text: l10n.t("The agent isn't configured in settings or installed on this machine."),
    buttons: [
      { action: { type: 'pickAgent' }, label: l10n.t('Choose an Agent'), icon: 'list-unordered' },
      button.openSettings('agents'),
      button.dismiss(),
    ],
  }),
  start: failure => startCard(failure.agentName, failure.failure),
  'sign-in': failure => signInCard(failure),
  request: ({ agentName, error, attempt, isShown }) => {
    const isGone = isShown && error.kind === 'not-found'
    return {
      kind: 'error',
      title: isGone ? l10n.t('{0} no longer has this session', agentName) : requestTitle(attempt, agentName),
      text: isGone
        ? l10n.t('The conversation was saved. A new session gets it as context with your next prompt.')
        : sentence(error.message),
      details: texts(
        [l10n.t('Response'), `${error.method}: ${error.code}`],
        [l10n.t('Message'), isGone ? error.message : longerMessage(error.message)],
        [l10n.t('Detail'), error.detail],
      ),
      buttons: [
        ...(isGone ? [] : [button.retry()]),
        ...(isShown ? [button.continueInNew()] : []),
        button.openLog(),
        button.dismiss(),
      ],
    }
  },
  ended: failure => ({
    kind: 'error',
    title: isLost(failure.exit)
      ? l10n.t('The connection to {0} was lost', failure.agentName)
      : l10n.t('{0} stopped', failure.agentName),
    text: `${exitSentence(failure.exit)} ${l10n.t('The conversation was saved.')}`,
    details: texts([l10n.t('Last output'), failure.exit.stderrTail]),
    buttons: [
      ...(failure.attempt
        ? [
            {
              ...button.restart(),
              label: isLost(failure.exit) ? l10n.t('Reconnect and Continue') : l10n.t('Restart and Continue'),
            },
          ]
        : [button.continueInNew(), button.startNew()]),
      button.openLog(),
    ],
  }),
  'read-only': failure => ({
    kind: 'info',
    title: l10n.t("{0} can't continue this conversation", failure.agentName),
    text: l10n.t("{0} can't resume sessions. This saved conversation is read-only.", failure.agentName),
    buttons: [button.continueInNew(), button.startNew()],
  }),
  elsewhere: failure =>
    failure.place === 'otherVersion' ? otherVersionCard(failure.agentName) : elsewhereCard(failure),
  unresponsive: failure => ({
    kind: 'warning',
    title: l10n.t("{0} isn't responding to Stop", failure.agentName),
    text: l10n.t("The agent hasn't confirmed the cancellation. Wait or restart it."),
    buttons: [
      button.restart(),
      { action: { type: 'abandonTurn' }, label: l10n.t('Continue Without It') },
      button.openLog(),
    ],
  }),
  slow: failure => ({
    kind: 'warning',
    title: l10n.t('{0} is taking longer than expected', failure.agentName),
    text: slowText(failure),
    buttons: [
      { action: { type: 'giveUp' }, label: l10n.t('Stop Waiting'), icon: 'close' },
      button.restart(),
      ...(failure.servers.length > 0 ? [button.openSettings('mcpServers')] : []),
      button.openLog(),
    ],
  }),
  'slow-option': failure => ({
    kind: 'warning',
    title: l10n.t("“{0}” hasn't changed yet", failure.optionName),
    text:
      failure.seconds === 1
        ? l10n.t(
            "{0} hasn't responded for 1 second. If you stop waiting, a late response still applies the change.",
            failure.agentName,
          )
        : l10n.t(
            "{0} hasn't responded for {1} seconds. If you stop waiting, a late response still applies the change.",
            failure.agentName,
            failure.seconds,
          ),
    buttons: [
      { action: { type: 'giveUp' }, label: l10n.t('Stop Waiting'), icon: 'close' },
      button.restart(),
      button.openLog(),
    ],
  }),
  option: failure => ({
    kind: 'warning',
    title: l10n.t("“{0}” couldn't be changed", failure.optionName),
    text: sentence(failure.message),
    details: texts([l10n.t('Message'), longerMessage(failure.message)], [l10n.t('Detail'), failure.detail]),
    buttons: [button.dismiss()],
  }),
  problem: failure => ({
    kind: 'error',
    title: failure.title,
    text: sentence(failure.message),
    buttons: failure.attempt
      ? [button.retry(), button.openLog(), button.dismiss()]
      : [button.openLog(), button.dismiss()],
  }),
}

/** Whether only the connection is lost, so that an agent on a server may still run. */
function isLost({ reason }: AgentExit): boolean {
  return reason === 'connection'
}

/** Returns the card for a failure. `canInstall` says whether agents can be installed from a registry. */
export function cardFor(id: string, failure: Failure, canInstall = true): Card {
  const content = CARDS[failure.type] as (failure: Failure, canInstall: boolean) => CardContent
  return { id, ...content(failure, canInstall) }
}

/** Returns a card with the problems in the settings. Agents with valid entries still work. */
export function settingsCard(problems: readonly string[]): Card {
  return {
    id: 'settings',
    kind: 'warning',
    title: l10n.t('Invalid Setting'),
    text: problems[0] ?? '',
    details: problems.length > 1 ? [{ label: l10n.t('All Problems'), text: problems.join('\n') }] : undefined,
    buttons: [button.openSettings(settingOf(problems))],
  }
}

export const LOST_OPTIONS_CARD = 'lost-options'

/** Returns a card with the option values that the agent no longer has since the session was reopened. */
export function lostOptionsCard(lost: readonly LostOption[]): Card {
  const title = lost.map(({ before, now }) => {
    const [name, value, last] = [now.name, valueName(now), valueName(before)]
    return isOffered({ before, now })
      ? l10n.t('{0} is now “{1}”. It was “{2}” before.', name, value, last)
      : l10n.t('{0} is now “{1}”. “{2}” is no longer available.', name, value, last)
  })
  const switchBack: CardButton = { action: { type: 'switchBack' }, label: l10n.t('Switch Back') }
  return {
    id: LOST_OPTIONS_CARD,
    kind: 'info',
    title: title.join(' '),
    text: '',
    buttons: [...(lost.some(isOffered) ? [switchBack] : []), button.dismiss()],
  }
}

export const ENVIRONMENT_CARD = 'environment'

/** Returns a card that says that the agent would start with a different environment now. */
export function environmentCard(agentName: string): Card {
  return {
    id: ENVIRONMENT_CARD,
    kind: 'info',
    title: l10n.t("The project's environment may have changed"),
    text: l10n.t('To use it in {0}, restart the agent.', agentName),
    buttons: [button.restart(), button.dismiss()],
  }
}

function valueName(option: LostOption['now']): string {
  if (option.type === 'select') return chosenName(option)
  return option.currentValue ? l10n.t('On') : l10n.t('Off')
}

/** Whether the agent still offers the value that was lost. */
export function isOffered({ before, now }: LostOption): boolean {
  return now.type === 'boolean' || now.choices.some(({ value }) => value === before.currentValue)
}

/** Returns the setting that all problems are about; each problem's text starts with the setting's name. */
function settingOf(problems: readonly string[]): SettingName | undefined {
  const names = new Set(problems.map(problem => /^parley\.([\w.]*\w)/.exec(problem)?.[1]))
  const [name] = names
  return names.size === 1 && isSettingName(name) ? name : undefined
}

/** The maximum number of MCP servers that the card names. */
const MAX_NAMED = 4

function slowText({ agentName, seconds, servers }: Extract<Failure, { type: 'slow' }>): string {
  const waited =
    seconds === 1
      ? l10n.t(
          "The agent hasn't responded for 1 second. You can keep waiting: an agent's first start can take a while.",
        )
      : l10n.t(
          "The agent hasn't responded for {0} seconds. You can keep waiting: an agent's first start can take a while.",
          seconds,
        )
  const [first] = servers
  if (first === undefined) return waited
  const names = servers.slice(0, MAX_NAMED).join(', ')
  const reason =
    servers.length === 1
      ? l10n.t('{0} may be waiting for the MCP server “{1}” to start.', agentName, first)
      : l10n.t(
          '{0} may be waiting for an MCP server to start: {1}.',
          agentName,
          servers.length > MAX_NAMED ? `${names}…` : names,
        )
  return `${waited} ${reason}`
}

function requestTitle(attempt: Attempt, agentName: string): string {
  switch (attempt.type) {
    case 'new':
      return l10n.t("{0} couldn't start a session", agentName)
    case 'load':
      return l10n.t("{0} couldn't load the session", agentName)
    case 'fork':
      return l10n.t("{0} couldn't fork the session", agentName)
    case 'resume':
      return l10n.t("{0} couldn't resume the session", agentName)
    case 'restore':
      return l10n.t("{0} couldn't restore the session", agentName)
  }
}

/** Replaces Dismiss with a button that returns to the previous session, for a card about a session that couldn't be opened. */
export function withWayBack(card: Card): Card {
  const back: CardButton = {
    action: { type: 'back' },
    label: l10n.t('Go Back'),
    icon: 'arrow-left',
    secondary: true,
  }
  return { ...card, buttons: [...card.buttons.filter(({ action }) => action.type !== 'dismiss'), back] }
}

function elsewhereCard(failure: Extract<Failure, { type: 'elsewhere' }>): CardContent {
  return {
    kind: 'info',
    title: failure.taken
      ? l10n.t('This session was taken over by another window')
      : l10n.t('This session is open in another window'),
    text:
      failure.place === 'hostedWindow'
        ? l10n.t(
            'You can follow it here, read-only. If you take it over, its turn continues here and the other window follows. Other sessions that share its agent process move, too.',
          )
        : l10n.t(
            'You can follow it here, read-only. If you take it over, the other window stops its turn and closes the session.',
          ),
    buttons: [
      { action: { type: 'takeOver' }, label: l10n.t('Take Over') },
      ...(failure.canFork ? [{ action: { type: 'fork' }, label: l10n.t('Fork') } as const] : []),
      { action: { type: 'dismiss' }, label: l10n.t('Follow Read-Only'), secondary: true },
    ],
  }
}

/** The card for a session whose agent runs in a host that this window can't reach. No second agent is started for the session. */
function otherVersionCard(agentName: string): CardContent {
  return {
    kind: 'info',
    title: l10n.t('This session is still running in another version of Parley'),
    text: l10n.t(
      'You can follow it here, read-only. It can be opened as soon as {0} has ended there: a few minutes after its turn, or when you stop it.',
      agentName,
    ),
    buttons: [
      button.retry(),
      {
        action: { type: 'showBackground' },
        label: l10n.t('Show Background Sessions'),
        icon: 'server-process',
      },
    ],
  }
}
