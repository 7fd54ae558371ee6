import * as l10n from '@vscode/l10n'
import type { AgentStartFailure } from '../../acp/agent.ts'
import type { SettingName } from '../../common/settings.ts'
import { button, type CardContent, exitSentence, longerMessage, sentence, texts } from './card-content.ts'

/** Returns the card that says why an agent couldn't be started, and where Parley searched for it. */
export function startCard(agentName: string, failure: AgentStartFailure): CardContent {
  const base = { kind: 'error' as const }
  const wayTo = (setting: SettingName) => [
    button.retry(),
    button.openSettings(setting),
    button.openLog(),
    button.dismiss(),
  ]
  const way = wayTo('agents')
  switch (failure.kind) {
    case 'command-missing':
      return {
        ...base,
        title: l10n.t("{0} isn't installed", agentName),
        text: l10n.t("The command “{0}” wasn't found.", failure.command),
        details: texts(
          [l10n.t('Command'), failure.command],
          [l10n.t('Searched in'), failure.searched.join('\n') || l10n.t('no directories: the PATH is empty')],
        ),
        buttons: [button.retry(), button.openSettings('agents'), button.dismiss()],
      }
    case 'spawn':
      return {
        ...base,
        title: l10n.t("{0} couldn't start", agentName),
        text: sentence(failure.message),
        details: texts([l10n.t('Program'), failure.command]),
        buttons: way,
      }
    case 'unreachable':
      return {
        ...base,
        title: l10n.t("{0} couldn't be reached", agentName),
        text: failure.message,
        details: texts([l10n.t('Server'), failure.command], [l10n.t('Detail'), failure.problem.detail]),
        buttons: way,
      }
    case 'exited':
      return {
        ...base,
        title: l10n.t('{0} stopped during startup', agentName),
        text: exitSentence(failure.exit),
        ...lastOutput(failure.command, failure.exit.stderrTail, failure.stdoutNoise),
        buttons: way,
      }
    case 'initialize-timeout':
      return {
        ...base,
        title: l10n.t("{0} didn't respond", agentName),
        text:
          failure.seconds === 1
            ? l10n.t(
                "The agent started but didn't send a protocol message within 1 second, so it was stopped. Check that it supports ACP and that its arguments are correct.",
              )
            : l10n.t(
                "The agent started but didn't send a protocol message within {0} seconds, so it was stopped. Check that it supports ACP and that its arguments are correct.",
                failure.seconds,
              ),
        ...lastOutput(failure.command, failure.stderrTail, failure.stdoutNoise),
        buttons: wayTo('initializeTimeout'),
      }
    case 'initialize-error':
      return {
        ...base,
        title: l10n.t('{0} refused to start', agentName),
        text: sentence(failure.error.message),
        details: texts(
          [l10n.t('Message'), longerMessage(failure.error.message)],
          [l10n.t('Detail'), failure.error.detail],
          [l10n.t('Error output'), failure.stderrTail],
          [l10n.t('Program'), failure.command],
        ),
        buttons: way,
      }
    case 'version':
      return {
        ...base,
        title: l10n.t('{0} uses an unsupported protocol version', agentName),
        text: l10n.t(
          'The agent uses protocol version {0}, but Parley supports {1}. Update the agent or Parley.',
          failure.offered,
          failure.supported.join(', '),
        ),
        details: texts([l10n.t('Program'), failure.command]),
        buttons: way,
      }
    case 'cancelled':
      return {
        ...base,
        kind: 'info',
        title: l10n.t("{0} didn't start", agentName),
        text: l10n.t('You canceled the start.'),
        buttons: [button.retry(), button.dismiss()],
      }
  }
}

/** Returns the output of a program that failed before the protocol began. It's shown expanded because it usually contains the reason. */
function lastOutput(
  command: string,
  stderr: string,
  stdout: string,
): Pick<CardContent, 'details' | 'unfolded'> {
  const words = texts([l10n.t('Error output'), stderr], [l10n.t('Non-protocol output'), stdout])
  return {
    details: [...words, ...texts([l10n.t('Program'), command])],
    ...(words.length > 0 && { unfolded: true }),
  }
}
