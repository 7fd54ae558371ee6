import * as l10n from '@vscode/l10n'
import type { AgentStartFailure } from '../../acp/agent.ts'
import type { Card } from '../bridge/conversation.ts'
import { button, exitSentence, moreThanSaid, sentence, texts } from './card-parts.ts'

/** Why an agent could not be started, and what was looked at. */
export function startCard(id: string, agentName: string, failure: AgentStartFailure): Card {
  const base = { id, kind: 'error' as const }
  const way = [button.retry(), button.openSettings(), button.openLog(), button.dismiss()]
  switch (failure.kind) {
    case 'command-missing':
      return {
        ...base,
        title: l10n.t('{0} is not installed here', agentName),
        text: l10n.t('The command “{0}” was not found.', failure.command),
        details: texts(
          [l10n.t('Command'), failure.command],
          [l10n.t('Looked in'), failure.searched.join('\n') || l10n.t('nowhere: the PATH is empty')],
        ),
        buttons: [button.retry(), button.openSettings(), button.dismiss()],
      }
    case 'spawn':
      return {
        ...base,
        title: l10n.t('{0} could not be started', agentName),
        text: sentence(failure.message),
        details: texts([l10n.t('Command'), failure.command]),
        buttons: way,
      }
    case 'exited':
      return {
        ...base,
        title: l10n.t('{0} stopped as it started', agentName),
        text: exitSentence(failure.exit),
        ...lastWords(failure.command, failure.exit.stderrTail, failure.stdoutNoise),
        buttons: way,
      }
    case 'initialize-timeout':
      return {
        ...base,
        title: l10n.t('{0} did not answer', agentName),
        text: l10n.t(
          'It was started but said nothing in the protocol for {0} seconds, and was ended. Is it an ACP agent, and does it need another argument?',
          failure.seconds,
        ),
        ...lastWords(failure.command, failure.stderrTail, failure.stdoutNoise),
        buttons: way,
      }
    case 'initialize-error':
      return {
        ...base,
        title: l10n.t('{0} refused to start', agentName),
        text: sentence(failure.error.message),
        details: texts(
          [l10n.t('Message'), moreThanSaid(failure.error.message)],
          [l10n.t('Detail'), failure.error.detail],
          [l10n.t('Error output'), failure.stderrTail],
          [l10n.t('Command'), failure.command],
        ),
        buttons: way,
      }
    case 'version':
      return {
        ...base,
        title: l10n.t('{0} speaks another version', agentName),
        text: l10n.t(
          'It answered with version {0} of the protocol; Parley speaks {1}. Update the agent, or Parley.',
          failure.offered,
          failure.supported.join(', '),
        ),
        details: texts([l10n.t('Command'), failure.command]),
        buttons: way,
      }
    case 'cancelled':
      return {
        ...base,
        kind: 'info',
        title: l10n.t('{0} was not started', agentName),
        text: l10n.t('You cancelled it.'),
        buttons: [button.retry(), button.dismiss()],
      }
  }
}

/** What a program said that did not get as far as the protocol: most often the reason, so nobody has to unfold it. */
function lastWords(command: string, stderr: string, stdout: string): Pick<Card, 'details' | 'unfolded'> {
  const words = texts([l10n.t('Error output'), stderr], [l10n.t('Output that is not the protocol'), stdout])
  return {
    details: [...words, ...texts([l10n.t('Command'), command])],
    ...(words.length > 0 && { unfolded: true }),
  }
}
