import { type Agent, AgentClosedError, type AgentExit } from '../../acp/agent.ts'
import type { AgentCapabilities, AgentPlace } from '../../acp/model.ts'
import type { Event } from '../../common/event.ts'

const EXIT: AgentExit = { reason: 'disposed', stderrTail: '' }
const nothing: Event<never> = () => ({ dispose() {} })

/** Represents an agent that isn't running, for a saved conversation that can be read and continued. */
export class AbsentAgent implements Agent {
  readonly info: { name: string }
  readonly protocolVersion = 0
  readonly capabilities: AgentCapabilities
  readonly authMethods = []
  readonly onUpdate = nothing
  readonly onDidClose = nothing

  /** `place`: on which machine the conversation's files are. */
  constructor(name: string, known: { load: boolean; resume: boolean } | undefined, place: AgentPlace = {}) {
    this.info = { name }
    this.capabilities = {
      load: known?.load ?? true,
      resume: known?.resume ?? false,
      list: false,
      close: false,
      delete: false,
      additionalDirectories: false,
      logout: false,
      mcp: { stdio: false, http: false, sse: false },
      prompt: { image: false, audio: false, embeddedContext: false },
      ...place,
    }
  }

  newSession = gone
  loadSession = gone
  resumeSession = gone
  listSessions = gone
  closeSession = gone
  deleteSession = gone
  prompt = gone
  setConfigOption = gone
  authenticate = gone
  logout = gone
  cancel(): void {}
  dispose(): void {}
}

export const ABSENT = EXIT

async function gone(): Promise<never> {
  throw new AgentClosedError(EXIT)
}
