import { randomUUID } from 'node:crypto'
import type { SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import { pause, pieces, type Turn } from '../turn.ts'
import { shortName, subjectFile } from '../workspace.ts'

/** `/delegate`: two subagents work concurrently. They are only in the draft of the protocol, not in a released schema. */
export async function delegate(turn: Turn): Promise<void> {
  if (!turn.features.subagents)
    return turn.say("Your client doesn't support subagents, so I can't delegate anything.")
  const file = await subjectFile(turn, '')
  const name = file ? shortName(turn, file) : 'the folder'
  await turn.say('I delegate this to two subagents that work at the same time.\n\n')
  const reader = new Subagent(turn, 'Reader', `Looks at ${name}`)
  const critic = new Subagent(turn, 'Critic', 'Gives an opinion without reading')
  try {
    await Promise.all([
      reader.work(async () => {
        await reader.call(`Read ${name}`, file)
        await reader.say(`I looked at \`${name}\`. I'm a script, so I can only say that it exists.`)
      }),
      critic.work(() => critic.say('I read nothing, but I think it could be **shorter**.')),
    ])
  } finally {
    await Promise.all([reader.end(), critic.end()])
  }
  await turn.say("Both are done: one of them read, the other didn't.")
}

/** A subagent's session, which lasts as long as its work. */
class Subagent {
  readonly #sessionId = randomUUID()
  readonly #turn: Turn
  readonly #about: { title: string; description: string }
  #stopReason: StopReason = 'cancelled'
  #begun = false

  constructor(turn: Turn, title: string, description: string) {
    this.#turn = turn
    this.#about = { title, description }
  }

  async work(job: () => Promise<void>): Promise<void> {
    this.#begun = true
    await this.#announce({ ...this.#about, cwd: this.#turn.session.cwd, state: { state: 'running' } })
    await job()
    this.#stopReason = 'end_turn'
  }

  /** Also after the turn was canceled: no subagent is working anymore. */
  async end(): Promise<void> {
    if (!this.#begun) return
    await this.#announce({ state: { state: 'idle', stopReason: this.#stopReason } })
  }

  async say(markdown: string): Promise<void> {
    const { session, signal } = this.#turn
    const messageId = randomUUID()
    session.used += Math.ceil(markdown.length / 4)
    for (const text of pieces(markdown)) {
      await this.#tell({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } })
      await pause(this.#turn.scaled(60), signal)
    }
  }

  async call(title: string, path: string | undefined): Promise<void> {
    const toolCallId = randomUUID()
    const locations = path === undefined ? [] : [{ path }]
    await this.#tell({
      ...{ sessionUpdate: 'tool_call', toolCallId, title, kind: 'read', status: 'in_progress' },
      locations,
    })
    await pause(this.#turn.scaled(400), this.#turn.signal)
    await this.#tell({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
  }

  #announce(fields: object): Promise<void> {
    const update = { sessionUpdate: 'subagent_update', sessionId: this.#sessionId, ...fields }
    return this.#send(this.#turn.session.id, update as unknown as SessionUpdate)
  }

  #tell(update: SessionUpdate): Promise<void> {
    this.#turn.check()
    return this.#send(this.#sessionId, update)
  }

  #send(sessionId: string, update: SessionUpdate): Promise<void> {
    return this.#turn.client.notify('session/update', { sessionId, update })
  }
}
