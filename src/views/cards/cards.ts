import * as l10n from '@vscode/l10n'
import type { Attempt, Failure } from '../../sessions/failures/failure.ts'
import type { Card } from '../bridge/conversation.ts'
import { button, CardButtonId, exitSentence, moreThanSaid, sentence, texts } from './card-parts.ts'
import { signInCard } from './sign-in-card.ts'
import { startCard } from './start-card.ts'

/** The card for a failure: what happened in a sentence, what was looked at, what to do. */
export function cardFor(id: string, failure: Failure): Card {
  switch (failure.type) {
    case 'no-agent':
      return {
        id,
        kind: 'info',
        title: l10n.t('No agent yet'),
        text: l10n.t('None of the agents Parley knows was found on this machine. Add yours in the settings.'),
        buttons: [button.openSettings()],
      }
    case 'untrusted':
      return {
        id,
        kind: 'warning',
        title: l10n.t('This folder is not trusted'),
        text: l10n.t(
          'An agent can run commands and change files, so none is started here until you trust the folder.',
        ),
        buttons: [
          { id: CardButtonId.manageTrust, label: l10n.t('Manage Trust'), icon: 'workspace-untrusted' },
        ],
      }
    case 'unknown-agent':
      return {
        id,
        kind: 'error',
        title: l10n.t('There is no agent “{0}”', failure.agentName),
        text: l10n.t('It is neither in the settings nor found on this machine.'),
        buttons: [
          { id: CardButtonId.pickAgent, label: l10n.t('Choose an Agent'), icon: 'list-unordered' },
          button.openSettings(),
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
          [l10n.t('Answer'), `${failure.error.method}: ${failure.error.code}`],
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
        text: `${exitSentence(failure.exit)} ${l10n.t('The conversation is kept.')}`,
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
        title: l10n.t('{0} cannot go on with this conversation', failure.agentName),
        text: l10n.t('It takes up no session again. What was said is kept here to be read.'),
        buttons: [button.startNew()],
      }
    case 'unresponsive':
      return {
        id,
        kind: 'warning',
        title: l10n.t('{0} does not stop', failure.agentName),
        text: l10n.t('It was asked to cancel the turn and has not answered. Wait, or restart it.'),
        buttons: [
          button.restart(),
          { id: CardButtonId.abandonTurn, label: l10n.t('Go On Without It') },
          button.openLog(),
        ],
      }
    case 'slow':
      return {
        id,
        kind: 'warning',
        title: l10n.t('{0} takes its time', failure.agentName),
        text: l10n.t(
          'It has not answered for {0} seconds. You can go on waiting: the first start of an agent may take long.',
          failure.seconds,
        ),
        buttons: [
          { id: CardButtonId.giveUp, label: l10n.t('Stop Waiting'), icon: 'close' },
          button.restart(),
          button.openLog(),
        ],
      }
    case 'slow-option':
      return {
        id,
        kind: 'warning',
        title: l10n.t('“{0}” is not changed yet', failure.optionName),
        text: l10n.t(
          '{0} has not answered for {1} seconds. When it answers after you stopped waiting, the change still counts.',
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
        title: l10n.t('“{0}” was not changed', failure.optionName),
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

/** What is wrong in the settings; the agents whose entries are right work all the same. */
export function settingsCard(problems: readonly string[]): Card {
  return {
    id: 'settings',
    kind: 'warning',
    title: l10n.t('A setting needs a look'),
    text: problems[0] ?? '',
    details: problems.length > 1 ? [{ label: l10n.t('All of them'), text: problems.join('\n') }] : undefined,
    buttons: [button.openSettings()],
  }
}

function requestTitle(attempt: Attempt, agentName: string): string {
  switch (attempt.type) {
    case 'new':
      return l10n.t('{0} could not begin a session', agentName)
    case 'load':
      return l10n.t('{0} could not load the session', agentName)
    case 'fork':
      return l10n.t('{0} could not fork the session', agentName)
    case 'resume':
      return l10n.t('{0} could not resume the session', agentName)
    case 'restore':
      return l10n.t('{0} could not bring the session back', agentName)
  }
}
