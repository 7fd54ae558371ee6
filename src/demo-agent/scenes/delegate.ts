import { randomUUID } from 'node:crypto'
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.ts'
import { shortName, subjectFile } from '../workspace.ts'

/** `/delegate`: two subagents work concurrently. Subagents are only in the draft of the protocol, not in a released schema. */
export async function delegate(turn: Turn): Promise<void> {
  if (!turn.features.subagents)
    return turn.say("Your client doesn't support subagents, so I can't delegate anything.")
  const file = await subjectFile(turn, '')
  const name = file ? shortName(turn, file) : 'the folder'
  await turn.say('I delegate this to two subagents that work at the same time.\n\n')
  // Even if the turn is canceled, report the end of both subagents first.
  await Promise.allSettled([
    runSubagent(turn, 'Reader', `Looks at ${name}`, async subagent => {
      const locations = file === undefined ? [] : [{ path: file }]
      const call = await subagent.tool({ title: `Read ${name}`, kind: 'read', locations })
      await call.run()
      await subagent.rest(400)
      await call.end('completed')
      await subagent.say(`I looked at \`${name}\`. I'm a script, so I can only say that it exists.`)
    }),
    runSubagent(turn, 'Critic', 'Gives an opinion without reading', subagent =>
      subagent.say('I read nothing, but I think it could be **shorter**.'),
    ),
  ])
  await turn.say("Both are done: one of them read, the other didn't.")
}

/** Runs a subagent in a session of its own, which lasts as long as the subagent's work. */
async function runSubagent(
  turn: Turn,
  title: string,
  description: string,
  work: (subagent: Turn) => Promise<void>,
): Promise<void> {
  const sessionId = randomUUID()
  const { id, cwd } = turn.session
  const announce = (fields: object) => {
    const update = { sessionUpdate: 'subagent_update', sessionId, ...fields } as unknown as SessionUpdate
    return turn.client.notify('session/update', { sessionId: id, update })
  }
  let stopReason = 'cancelled'
  await announce({ title, description, cwd, state: { state: 'running' } })
  try {
    await work(turn.delegate(sessionId))
    stopReason = 'end_turn'
  } finally {
    await announce({ state: { state: 'idle', stopReason } })
  }
}
