import * as l10n from '@vscode/l10n'
import type { Card } from '../../bridge/conversation.ts'
import { isSettingName, type SettingName } from '../../common/settings.ts'
import type { Attempt, Failure } from '../../sessions/failures.ts'
import { button, CardButtonId, exitSentence, moreThanSaid, sentence, texts } from './card-content.ts'
import { signInCard } from './sign-in-card.ts'
import { startCard } from './start-card.ts'

/**
 * The card for a failure: what happened, what was searched, and what to do. `canInstall`: agents can be installed from a
 * registry.
 */
export function cardFor(id: string, failure: Failure, canInstall = true): Card {
  switch (failure.type) {
    case 'no-agent':
      return {
        id,
        kind: 'info',
        title: l10n.t('Choose an agent'),
        text: canInstall
          ? l10n.t(
              'Install Claude Code, Codex, Gemini CLI or another ACP agent, add your own in settings, or try the demo.',
            )
          : l10n.t('Add an agent in settings, or try the demo.'),
        buttons: [button.openSettings('agents')],
      }
    case 'untrusted':
      return {
        id,
        kind: 'warning',
        title: l10n.t('Restricted Mode'),
        text: l10n.t('Agents can run commands and change files. To start one here, trust this folder.'),
        buttons: [
          { id: CardButtonId.manageTrust, label: l10n.t('Manage Trust'), icon: 'workspace-untrusted' },
        ],
      }
    case 'default-agent': {
      const { message, installable } = failure.problem
      const install = canInstall &&
        installable && {
          id: CardButtonId.install + installable.id,
          label: l10n.t('Install {0}', installable.name),
          icon: 'cloud-download',
        }
      return {
        id,
        kind: 'warning',
        title: l10n.t("The default agent isn't available"),
        text: message,
        buttons: [
          ...(install ? [install] : []),
          { id: CardButtonId.pickAgent, label: l10n.t('Choose an Agent'), icon: 'list-unordered' },
          button.openSettings('defaultAgent'),
        ],
      }
    }
    case 'unknown-agent':
      return {
        id,
        kind: 'error',
        title: l10n.t('Agent “{0}” not found', failure.agentName),
        text: l10n.t("The agent isn't configured in settings or installed on this machine."),
        buttons: [
          { id: CardButtonId.pickAgent, label: l10n.t('Choose an Agent'), icon: 'list-unordered' },
          button.openSettings('agents'),
          button.dismiss(),
        ],
      }
    case 'start':
      return startCard(id, failure.agentName, failure.failure)
    case 'sign-in':
      return signInCard(id, failure)
    case 'request':
      return {
        id,
        kind: 'error',
        title: requestTitle(failure.attempt, failure.agentName),
        text: sentence(failure.error.message),
        details: texts(
          [l10n.t('Response'), `${failure.error.method}: ${failure.error.code}`],
          [l10n.t('Message'), moreThanSaid(failure.error.message)],
          [l10n.t('Detail'), failure.error.detail],
        ),
        buttons: [button.retry(), button.openLog(), button.dismiss()],
      }
    case 'ended':
      return {
        id,
        kind: 'error',
        title: l10n.t('{0} stopped', failure.agentName),
        text: `${exitSentence(failure.exit)} ${l10n.t('The conversation was saved.')}`,
        details: texts([l10n.t('Last output'), failure.exit.stderrTail]),
        buttons: [
          failure.attempt
            ? { ...button.restart(), label: l10n.t('Restart and Continue') }
            : button.startNew(),
          button.openLog(),
        ],
      }
    case 'read-only':
      return {
        id,
        kind: 'info',
        title: l10n.t("{0} can't continue this conversation", failure.agentName),
        text: l10n.t("{0} can't resume sessions. This saved conversation is read-only.", failure.agentName),
        buttons: [button.startNew()],
      }
    case 'elsewhere':
      return {
        id,
        kind: 'info',
        title: failure.taken
          ? l10n.t('This session was taken over by another window')
          : l10n.t('This session is open in another window'),
        text: l10n.t(
          'You can follow it here, read-only. If you take it over, the other window stops its turn and closes the session.',
        ),
        buttons: [
          { id: CardButtonId.takeOver, label: l10n.t('Take Over') },
          ...(failure.canFork ? [{ id: CardButtonId.fork, label: l10n.t('Fork') }] : []),
          { id: CardButtonId.dismiss, label: l10n.t('Follow Read-Only'), secondary: true },
        ],
      }
    case 'unresponsive':
      return {
        id,
        kind: 'warning',
        title: l10n.t("{0} isn't responding to Stop", failure.agentName),
        text: l10n.t("The agent hasn't confirmed the cancellation. Wait or restart it."),
        buttons: [
          button.restart(),
          { id: CardButtonId.abandonTurn, label: l10n.t('Continue Without It') },
          button.openLog(),
        ],
      }
    case 'slow':
      return {
        id,
        kind: 'warning',
        title: l10n.t('{0} is taking longer than expected', failure.agentName),
        text: slowText(failure),
        buttons: [
          { id: CardButtonId.giveUp, label: l10n.t('Stop Waiting'), icon: 'close' },
          button.restart(),
          ...(failure.servers.length > 0 ? [button.openSettings('mcpServers')] : []),
          button.openLog(),
        ],
      }
    case 'slow-option':
      return {
        id,
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
          { id: CardButtonId.giveUp, label: l10n.t('Stop Waiting'), icon: 'close' },
          button.restart(),
          button.openLog(),
        ],
      }
    case 'option':
      return {
        id,
        kind: 'warning',
        title: l10n.t("“{0}” couldn't be changed", failure.optionName),
        text: sentence(failure.message),
        details: texts(
          [l10n.t('Message'), moreThanSaid(failure.message)],
          [l10n.t('Detail'), failure.detail],
        ),
        buttons: [button.dismiss()],
      }
    case 'problem':
      return {
        id,
        kind: 'error',
        title: failure.title,
        text: sentence(failure.message),
        buttons: failure.attempt
          ? [button.retry(), button.openLog(), button.dismiss()]
          : [button.openLog(), button.dismiss()],
      }
  }
}

/** Shows problems in the settings; agents with valid entries work anyway. */
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

/** The common setting of all problems; each starts with its name. */
function settingOf(problems: readonly string[]): SettingName | undefined {
  const names = new Set(problems.map(problem => /^parley\.([\w.]*\w)/.exec(problem)?.[1]))
  const [name] = names
  return names.size === 1 && isSettingName(name) ? name : undefined
}

/** Maximum number of servers that are named. */
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
