import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Turn } from '../turn.ts'

const titled = (choices: Record<string, string>) =>
  Object.entries(choices).map(([value, title]) => ({ const: value, title }))

/** `/ask`: shows a form to the user, if the client supports forms. */
export async function ask(turn: Turn): Promise<void> {
  if (!turn.features.forms) return turn.say("Your client doesn't support forms, so I can't show you one.")
  const answer = await turn.request('elicitation/create', {
    mode: 'form',
    sessionId: turn.session.id,
    message: 'How do you like your demo?',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Your name', minLength: 1, maxLength: 60 },
        pace: {
          ...{ type: 'string', title: 'Pace', default: 'fast' },
          oneOf: titled({ slow: 'Slow', fast: 'Fast' }),
        },
        times: { type: 'integer', title: 'How many times', minimum: 1, maximum: 5, default: 1 },
        mail: {
          ...{ type: 'string', title: 'Where to write to', format: 'email' },
          description: 'Only if you want an answer.',
        },
        day: { type: 'string', title: 'Day', format: 'date' },
        parts: {
          ...{ type: 'array', title: 'What you liked', default: ['talk'] },
          items: { anyOf: titled({ talk: 'The talk', plan: 'The plan', edit: 'The edit' }) },
        },
        again: { type: 'boolean', title: 'Again tomorrow?', default: true },
      },
      required: ['name'],
    },
  })
  if (answer.action !== 'accept')
    return turn.say(`You chose to ${answer.action}, so there's no answer to show.`)
  await turn.say(`You answered:\n\n\`\`\`json\n${JSON.stringify(answer.content ?? {}, null, 2)}\n\`\`\``)
}

/** `/visit`: asks the user to open a URL on this machine and waits until the URL was opened. */
export async function visit(turn: Turn): Promise<void> {
  if (!turn.features.visits) return turn.say("Your client doesn't open URLs for agents.")
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; charset=utf-8')
    response.end("That's all. You can close this page.\n")
  })
  const visited = once(server, 'request')
  visited.catch(() => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const elicitationId = randomUUID()
    const { port } = server.address() as AddressInfo
    const answer = await turn.request('elicitation/create', {
      mode: 'url',
      sessionId: turn.session.id,
      message: 'Please open this page. A real agent would let you sign in to a service there.',
      elicitationId,
      url: `http://127.0.0.1:${port}/demo?for=${encodeURIComponent(turn.session.id)}`,
    })
    if (answer.action !== 'accept')
      return await turn.say(`You chose to ${answer.action}, so the page wasn't opened.`)
    await turn.say("I'm waiting until you open the page. ")
    await Promise.race([visited, once(turn.signal, 'abort')])
    turn.check()
    await turn.client.notify('elicitation/complete', { elicitationId })
    await turn.say('The page was opened. Thank you.')
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
