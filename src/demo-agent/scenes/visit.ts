import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CreateElicitationResponse } from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.ts'

/** `/visit`: asks the person to open an address, of this machine's own, and waits until it was opened. */
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
    const answer = await ask(turn, elicitationId, (server.address() as AddressInfo).port)
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

async function ask(turn: Turn, elicitationId: string, port: number): Promise<CreateElicitationResponse> {
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
