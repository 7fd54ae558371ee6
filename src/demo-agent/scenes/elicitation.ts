import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CreateElicitationResponse } from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.ts'

/** `/ask`: shows a form to the user, if the client supports forms. */
export async function ask(turn: Turn): Promise<void> {
  if (!turn.features.forms) return turn.say('Your client offers no forms, so I can only ask in words.')
  let answer: CreateElicitationResponse
  try {
    answer = await turn.client.request(
      'elicitation/create',
      {
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
      },
      { cancellationSignal: turn.signal, stopWaitingOnCancel: true },
    )
  } catch (error) {
    turn.check()
    throw error
  }
  if (answer.action !== 'accept')
    return turn.say(`You chose to ${answer.action}, so I know no more than before.`)
  await turn.say(`You answered:\n\n\`\`\`json\n${JSON.stringify(answer.content ?? {}, null, 2)}\n\`\`\``)
}

/** `/visit`: asks the user to open a URL on this machine and waits until it was opened. */
export async function visit(turn: Turn): Promise<void> {
  if (!turn.features.visits) return turn.say('Your client opens no addresses for me.')
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; charset=utf-8')
    response.end('That is all. You can close this page.\n')
  })
  const visited = once(server, 'request')
  visited.catch(() => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const elicitationId = randomUUID()
    const answer = await askToVisit(turn, elicitationId, (server.address() as AddressInfo).port)
    if (answer.action !== 'accept') return await turn.say(`You chose to ${answer.action}, so I went nowhere.`)
    await turn.say('I wait until the page was opened. ')
    await Promise.race([visited, once(turn.signal, 'abort')])
    turn.check()
    await turn.client.notify('elicitation/complete', { elicitationId })
    await turn.say('The page was opened: thank you.')
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

async function askToVisit(
  turn: Turn,
  elicitationId: string,
  port: number,
): Promise<CreateElicitationResponse> {
  try {
    return await turn.client.request(
      'elicitation/create',
      {
        mode: 'url',
        sessionId: turn.session.id,
        message: 'Please open this page. A real agent would let you sign in to a service there.',
        elicitationId,
        url: `http://127.0.0.1:${port}/demo?for=${encodeURIComponent(turn.session.id)}`,
      },
      { cancellationSignal: turn.signal, stopWaitingOnCancel: true },
    )
  } catch (error) {
    turn.check()
    throw error
  }
}
