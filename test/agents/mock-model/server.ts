import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answer, type Script } from './answer.ts'
import { anthropic } from './anthropic.ts'
import { gemini } from './gemini.ts'
import type { Answer, Dialect, Message } from './model.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

const DIALECTS: Dialect[] = [openaiChat, openaiResponses, gemini, anthropic]

export interface MockModel {
  /** on 127.0.0.1 */
  port: number
  /** The requests so far, with what the user said in the conversation, and what tools returned. */
  requests: Array<{ path: string; scenario?: string; step?: number; prompts?: string[]; results?: string[] }>
  close(): Promise<void>
}

/**
 * Starts a model on loopback that answers from {@link SCENARIOS} and the given scripts, in the request's dialect.
 */
export async function startMockModel(scripts: readonly Script[] = []): Promise<MockModel> {
  const requests: MockModel['requests'] = []
  const server = http.createServer((request, response) => {
    handle(request, response, requests, scripts).catch(error => response.destroy(error))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function handle(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  requests: MockModel['requests'],
  scripts: readonly Script[],
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://mock')
  const body = await readJson(request)
  for (const dialect of DIALECTS) {
    const asked = dialect.read(pathname, body)
    if (!asked) continue
    const answered = answer(asked.question, scripts)
    const textsOf = (wanted: Message['role']) =>
      asked.question.messages.flatMap(({ role, text }) => (role === wanted ? text : []))
    const [prompts, results] = [textsOf('user'), textsOf('result')]
    requests.push({ path: pathname, scenario: answered.scenario, step: answered.step, prompts, results })
    await answered.after
    if (answered.isFull) return json(response, 400, dialect.full)
    if (asked.stream) return stream(response, dialect, answered)
    return json(response, 200, dialect.whole(answered))
  }
  requests.push({ path: pathname })
  if (pathname.endsWith(':countTokens')) return json(response, 200, { totalTokens: 1000 })
  if (pathname.endsWith('/count_tokens')) return json(response, 200, { input_tokens: 1000 })
  if (pathname.endsWith('/models')) {
    const model = { id: 'mock-model', object: 'model', created: 1_700_000_000, owned_by: 'mock' }
    return json(response, 200, { object: 'list', data: [model] })
  }
  json(response, 404, { error: { message: `The mock model has no ${pathname}`, type: 'not_found_error' } })
}

/** Ends early if the agent closes the connection, for example after a cancellation. */
async function stream(response: http.ServerResponse, dialect: Dialect, answered: Answer): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const event of dialect.stream(answered)) {
    if (typeof event === 'string') response.write(event)
    else await sleep(event, undefined, { signal: gone.signal }).catch(() => {})
    if (gone.signal.aborted) return
  }
  response.end()
}

async function readJson(request: http.IncomingMessage): Promise<Record<string, unknown>> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'))
  } catch {
    return {}
  }
}

function json(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
