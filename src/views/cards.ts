import * as l10n from '@vscode/l10n'
import type { AgentExit, AgentStartFailure } from '../acp/agent.ts'
import type { AuthMethod } from '../acp/model.ts'
import type { Attempt, Failure } from '../sessions/failures/failure.ts'
import { describeAccount } from './account-words.ts'
import type { Card, CardButton } from './bridge/conversation.ts'

/** What a card's button does; the ids go to the webview and come back. */
export const CardButtonId = {
  retry: 'retry',
  restart: 'restart',
  openLog: 'open-log',
  openSettings: 'open-settings',
  manageTrust: 'manage-trust',
  pickAgent: 'pick-agent',
  dismiss: 'dismiss',
  startNew: 'start-new',
  cancelSignIn: 'cancel-sign-in',
  abandonTurn: 'abandon-turn',
  giveUp: 'give-up',
  /** followed by the method's id */
  signIn: 'sign-in:',
} as const

type Details = NonNullable<Card['details']>

const button = {
  retry: (): CardButton => ({ id: CardButtonId.retry, label: l10n.t('Retry'), icon: 'refresh' }),
  restart: (): CardButton => ({
    id: CardButtonId.restart,
    label: l10n.t('Restart Agent'),
    icon: 'debug-restart',
  }),
  openLog: (): CardButton => ({ id: CardButtonId.openLog, label: l10n.t('Open Log'), icon: 'output' }),
  openSettings: (): CardButton => ({
    id: CardButtonId.openSettings,
    label: l10n.t('Open Settings'),
    icon: 'gear',
  }),
  dismiss: (): CardButton => ({ id: CardButtonId.dismiss, label: l10n.t('Dismiss'), secondary: true }),
  startNew: (): CardButton => ({ id: CardButtonId.startNew, label: l10n.t('New Session'), icon: 'add' }),
}

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

function startCard(id: string, agentName: string, failure: AgentStartFailure): Card {
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

function signInCard(id: string, failure: Extract<Failure, { type: 'sign-in' }>): Card {
  const running = failure.methods.find(method => method.methodId === failure.running)
  if (running) {
    return {
      id,
      kind: 'info',
      busy: true,
      title: l10n.t('Signing in to {0}', failure.agentName),
      text: signingIn(running),
      buttons: [{ id: CardButtonId.cancelSignIn, label: l10n.t('Cancel'), secondary: true }],
    }
  }
  const how =
    failure.methods.length > 0
      ? l10n.t('Choose how.')
      : l10n.t('It offers no way to sign in from here: sign in with its own command line.')
  const tried = failure.methods.find(method => method.methodId === failure.tried)
  const said = saysOnlyThat(failure.message) ? undefined : sentence(failure.message)
  const reason =
    tried && failure.message ? l10n.t('“{0}” did not work: {1}', tried.name, sentence(failure.message)) : said
  const account = describeAccount(failure.account)
  const signedIn = account && `${account}.`
  return {
    id,
    kind: failure.asked ? 'info' : 'warning',
    title: failure.asked
      ? l10n.t('Sign in to {0}', failure.agentName)
      : l10n.t('{0} needs you to sign in', failure.agentName),
    text: [signedIn, reason, how].filter(Boolean).join(' '),
    details: texts(
      [l10n.t('Answer'), reason ? moreThanSaid(failure.message) : failure.message],
      [l10n.t('Detail'), failure.detail],
    ),
    choices: failure.methods.map(method => ({
      id: CardButtonId.signIn + method.methodId,
      label: method.name,
      description: method.description ?? methodWords(method),
      icon: method.type === 'terminal' ? 'terminal' : method.type === 'env_var' ? 'key' : 'account',
    })),
    buttons: failure.asked ? [button.dismiss()] : [button.retry(), button.openLog(), button.dismiss()],
  }
}

/** The agent's answer has nothing to say but that one has to sign in. */
function saysOnlyThat(message: string): boolean {
  return /^\W*((authentication|authorization|auth|sign-?in|login)\s+(is\s+)?(required|needed)\W*)?$/i.test(
    message,
  )
}

/** How a way to sign in goes, where the agent says nothing of it. */
function methodWords(method: AuthMethod): string {
  switch (method.type) {
    case 'terminal':
      return l10n.t('In a terminal of VS Code')
    case 'env_var':
      return l10n.t('Kept in VS Code’s secret storage')
    default:
      return l10n.t('The agent leads you through it')
  }
}

/** What to do while a sign-in runs. */
function signingIn(method: AuthMethod): string {
  switch (method.type) {
    case 'terminal':
      return l10n.t('“{0}” runs in the terminal. Follow it there, then come back.', method.name)
    case 'env_var':
      return l10n.t(
        'Enter what “{0}” needs in the field at the top of the window; the agent is started anew with it.',
        method.name,
      )
    default:
      return l10n.t('“{0}” is under way. Follow what the agent opened, then come back.', method.name)
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

function exitSentence(exit: AgentExit): string {
  if (exit.message) return sentence(exit.message)
  if (exit.signal) return l10n.t('It was ended by {0}.', exit.signal)
  if (typeof exit.exitCode === 'number') return l10n.t('It exited with code {0}.', exit.exitCode)
  return l10n.t('Its connection ended.')
}

/** What a program said that did not get as far as the protocol: most often the reason, so nobody has to unfold it. */
function lastWords(command: string, stderr: string, stdout: string): Pick<Card, 'details' | 'unfolded'> {
  const words = texts([l10n.t('Error output'), stderr], [l10n.t('Output that is not the protocol'), stdout])
  return {
    details: [...words, ...texts([l10n.t('Command'), command])],
    ...(words.length > 0 && { unfolded: true }),
  }
}

/** Agents' messages come with and without a full stop, and sometimes over many lines; a colon leads to the next one. */
function sentence(text: string): string {
  const [first = '', next] = linesOf(text)
  const said = first.endsWith(':') && next ? `${first} ${next}` : first
  return /[.!?…:]$/.test(said) ? said : `${said}.`
}

/** The whole message, when a sentence of it leaves something out. */
function moreThanSaid(message: string): string | undefined {
  const lines = linesOf(message)
  return lines.length > (lines[0]?.endsWith(':') ? 2 : 1) ? message : undefined
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}

function texts(...pairs: Array<[label: string, text: string | undefined]>): Details {
  return pairs.flatMap(([label, text]) => (text?.trim() ? [{ label, text: text.trim() }] : []))
}
