import * as l10n from '@vscode/l10n'
import type { AgentClient } from '../acp/agent.ts'
import type { Roots, WriteTextFileRequest } from '../acp/model.ts'
import { Owner } from '../common/disposable.ts'
import type { Event } from '../common/event.ts'
import type { Session } from '../conversation/session.ts'
import type { ChangedFiles } from '../editor/changes/changed-files.ts'
import { type FilesShared, SessionFiles } from '../editor/files/files.ts'
import type { AskOutside } from '../editor/files/outside-access.ts'
import { SessionTerminals, type SessionTerminalsOptions } from '../editor/terminals/terminals.ts'

/** What all sessions of the window share. */
export interface ServicesShared {
  files: FilesShared
  /** The person saved a file in the editor. Without it nothing is told of files that commands changed. */
  onDidSave?: Event<string>
  /** The environment that commands start from: the login shell's. */
  environment: () => Record<string, string>
  /** Ends commands, too, when this process dies without having done so. */
  guard?: SessionTerminalsOptions['guard']
}

/** What one session's agent may do in the editor: its files and its commands, on its roots. */
export class SessionServices extends Owner {
  readonly files: SessionFiles
  readonly terminals: SessionTerminals
  readonly #changes: ChangedFiles

  constructor(shared: ServicesShared, session: Session, roots: Roots, changes: ChangedFiles) {
    super()
    this.#changes = changes
    this.files = this.register(
      new SessionFiles(shared.files, { roots, askOutside: askInConversation(session) }),
    )
    this.terminals = this.register(
      new SessionTerminals({ cwd: roots.cwd, env: shared.environment(), guard: shared.guard }),
    )
    this.register(
      this.terminals.onUpdate(update => {
        if (update.type === 'terminal') session.upsertTerminal(update.terminal)
        else if (update.type === 'terminal_output')
          session.appendTerminalOutput(update.terminalId, update.text)
      }),
    )
  }

  /** What the agent writes is remembered as it was before. */
  writeTextFile(request: WriteTextFileRequest, signal?: AbortSignal): Promise<void> {
    return this.#changes.writing(request.path, () => this.files.writeTextFile(request, signal))
  }

  /** The session is over: its commands get to end before they are made to. `dispose` waits for nobody. */
  async end(): Promise<void> {
    this.files.dispose()
    await this.terminals.endSession()
    this.dispose()
  }
}

/** Routes an agent's questions about files and terminals to the services of the session they name. */
export function servicesClient(
  find: (sessionId: string) => SessionServices | undefined,
): Omit<AgentClient, 'requestPermission'> {
  const of = (sessionId: string): SessionServices => {
    const services = find(sessionId)
    if (!services) throw new Error(`No session ${JSON.stringify(sessionId)} is open in this window.`)
    return services
  }
  return {
    readTextFile: async (request, signal) => of(request.sessionId).files.readTextFile(request, signal),
    writeTextFile: async (request, signal) => of(request.sessionId).writeTextFile(request, signal),
    createTerminal: async request => of(request.sessionId).terminals.create(request),
    terminalOutput: async (sessionId, id) => of(sessionId).terminals.output(id),
    waitForTerminalExit: async (sessionId, id) => of(sessionId).terminals.waitForExit(id),
    killTerminal: async (sessionId, id) => of(sessionId).terminals.kill(id),
    releaseTerminal: async (sessionId, id) => of(sessionId).terminals.release(id),
  }
}

/** A file outside of the session's roots is asked about like any other permission, in the conversation. */
function askInConversation(session: Session): AskOutside {
  return async ({ path, realPath, operation }, signal) => {
    const outcome = await session.askPerson(
      {
        sessionId: session.sessionId,
        title:
          operation === 'read'
            ? l10n.t('Read a file outside of this session’s folders?')
            : l10n.t('Write a file outside of this session’s folders?'),
        description: realPath === path ? path : l10n.t('{0}\nThis leads to {1}', path, realPath),
        subject: { type: 'none' },
        options: [
          { optionId: 'once', name: l10n.t('Allow once'), kind: 'allow_once' },
          { optionId: 'session', name: l10n.t('Allow for this session'), kind: 'allow_always' },
          { optionId: 'refuse', name: l10n.t('Reject'), kind: 'reject_once' },
        ],
      },
      signal,
    )
    if (outcome.type === 'cancelled') return 'refuse'
    return outcome.optionId === 'once' || outcome.optionId === 'session' ? outcome.optionId : 'refuse'
  }
}
