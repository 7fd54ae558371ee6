import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { CreateElicitationRequest, CreateElicitationResponse } from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.ts'

/** `/ask`: shows a form to the user, if the client supports forms. */
export async function ask(turn: Turn): Promise<void> {
  if (!turn.features.forms) return turn.say("Your client doesn't support forms, so I can't show you one.")
  const answer = await elicit(turn, {
    mode: 'form',
    sessionId: turn.session.id,
    message: 'How do you like your demo?',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Your name', minLength: 1, maxLength: 60 },
        pace: {
          type: 'string',
          title: 'Pace',
          oneOf: [
            { const: 'slow', title: 'Slow' },
            { const: 'fast', title: 'Fast' },
          ],
          default: 'fast',
        },
        times: { type: 'integer', title: 'How many times', minimum: 1, maximum: 5, default: 1 },
        mail: {
          type: 'string',
          title: 'Where to write to',
          format: 'email',
          description: 'Only if you want an answer.',
        },
        day: { type: 'string', title: 'Day', format: 'date' },
        parts: {
          type: 'array',
          title: 'What you liked',
          items: {
            anyOf: [
              { const: 'talk', title: 'The talk' },
              { const: 'plan', title: 'The plan' },
              { const: 'edit', title: 'The edit' },
            ],
          },
          default: ['talk'],
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

/** `/visit`: asks the user to open a URL on this machine and waits until it was opened. */
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
    const answer = await elicit(turn, {
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

/** The user's answer. Rejects if the turn is canceled. */
async function elicit(turn: Turn, request: CreateElicitationRequest): Promise<CreateElicitationResponse> {
  try {
    return await turn.client.request('elicitation/create', request, {
      cancellationSignal: turn.signal,
      stopWaitingOnCancel: true,
    })
  } finally {
    // A client that stops the turn also answers its requests, which the connection may pass on before the cancellation.
    await setImmediate()
    turn.check()
  }
}
