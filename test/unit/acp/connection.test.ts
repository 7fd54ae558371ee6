import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { TraceFrame, TraceTap } from '../../../src/acp/agent.ts'
import { Connection, type ConnectionHandlers } from '../../../src/acp/connection.ts'
import { RpcError } from '../../../src/acp/errors.ts'
import { LineTooLongError } from '../../../src/acp/transport/line-splitter.ts'
import { CancelledError } from '../../../src/common/errors.ts'
import { type Logger, silentLogger } from '../../../src/common/logger.ts'
import { MemoryPipe } from '../../support/memory-pipe.ts'
import { until } from '../../support/until.ts'

interface Opened {
  pipe: MemoryPipe
  connection: Connection
  log: string[]
  tap: { current: TraceTap | undefined }
}

function open(handlers: Partial<ConnectionHandlers> = {}, pipe = new MemoryPipe()): Opened {
  const log: string[] = []
  const note = (message: string) => log.push(message)
  const logger: Logger = { trace: note, debug: note, info: note, warn: note, error: note }
  const tap: { current: TraceTap | undefined } = { current: undefined }
  const connection = new Connection({
    reader: pipe.reader,
    writer: pipe.writer,
    handlers: { notification: () => false, request: () => undefined, ...handlers },
    log: logger,
    tap,
  })
  connection.listen()
  return { pipe, connection, log, tap }
}

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

describe('Connection', () => {
  describe('requests of the agent with an id that is in use', () => {
    it('count, can all be withdrawn, and end one by one', async () => {
      const signals: AbortSignal[] = []
      const answers: Array<() => void> = []
      const { pipe, connection } = open({
        request: (_method, _params, signal) => {
          signals.push(signal)
          return new Promise(resolve => answers.push(() => resolve({})))
        },
      })
      pipe.send(...Array.from({ length: 1100 }, () => ({ id: 7, method: 'ask', params: {} })))
      await until(() => pipe.sent.length === 100, 'the refusals')
      assert.ok(pipe.sent.every(({ error }) => error?.message === 'Too many requests are open.'))
      assert.equal(signals.length, 1000)
      answers[0]?.()
      await until(() => pipe.sent.length === 101, 'the answer')
      pipe.send({ method: '$/cancel_request', params: { requestId: 7 } })
      await until(() => signals.slice(1).every(signal => signal.aborted), 'the cancellation')
      assert.equal(signals[0]?.aborted, false)
      connection.dispose()
    })
  })

  describe('requests to the agent', () => {
    it('resolve with the result and reject with the error, whatever its shape (quirk 16)', async () => {
      const { pipe, connection } = open()
      const answers = ['a', 'b', 'c', 'd'].map(method => connection.request(method, {}))
      for (const answer of answers) answer.catch(() => {})
      await pipe.waitForMethod('d')
      pipe.send(
        { id: 1, error: { code: 401, message: 'Unauthorized', data: { details: 'no key' } } },
        { id: 0, result: { fine: true } },
        { id: 2, error: { code: -32603, message: 'Internal error', data: 'disk full' } },
        { id: 3, error: { code: -32097, message: 'A code that our own engine uses, too' } },
      )
      assert.deepEqual(await answers[0], { fine: true })
      await assert.rejects(answers[1]!, {
        name: 'RpcError',
        code: 401,
        message: 'Unauthorized',
        detail: 'no key',
      })
      await assert.rejects(answers[2]!, { code: -32603, message: 'disk full', detail: undefined })
      await assert.rejects(answers[3]!, { code: -32097 })
    })

    it('send parameters by name', async () => {
      const { pipe, connection } = open()
      connection.request('session/new', { cwd: '/w' }).catch(() => {})
      assert.deepEqual(await pipe.waitForMethod('session/new'), {
        jsonrpc: '2.0',
        id: 0,
        method: 'session/new',
        params: { cwd: '/w' },
      })
      connection.dispose()
    })

    it("are canceled with ACP's notification and reject at once", async () => {
      const { pipe, connection } = open()
      const controller = new AbortController()
      const answer = connection.request('authenticate', { methodId: 'x' }, controller.signal)
      const { id } = await pipe.waitForMethod('authenticate')
      controller.abort()
      await assert.rejects(answer, CancelledError)
      assert.deepEqual((await pipe.waitForMethod('$/cancel_request')).params, { requestId: id })
      // A late response does no harm, and the Language Server Protocol's notification was never sent.
      pipe.send({ id, result: {} })
      await turn()
      assert.equal(
        pipe.sent.some(frame => frame.method === '$/cancelRequest'),
        false,
      )
    })

    it("aren't sent if they are already canceled", async () => {
      const { pipe, connection } = open()
      await assert.rejects(connection.request('a', {}, AbortSignal.abort()), CancelledError)
      await turn()
      assert.deepEqual(pipe.sent, [])
    })

    it('settle with an error without an id if only one request is pending (quirk 16)', async () => {
      const { pipe, connection } = open()
      const answer = connection.request('a', {})
      await pipe.waitForMethod('a')
      pipe.write('{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}\n')
      await assert.rejects(answer, { code: -32700 })

      const two = [connection.request('b', {}), connection.request('c', {})]
      await pipe.waitForMethod('c')
      pipe.send(
        { id: null, error: { code: -32700, message: 'Parse error' } },
        { id: 1, result: 1 },
        { id: 2, result: 2 },
      )
      assert.deepEqual(await Promise.all(two), [1, 2])
    })

    it('reject with the reason why the connection ended, even if they are sent after the end', async () => {
      const { pipe, connection } = open()
      const answer = connection.request('a', {})
      await pipe.waitForMethod('a')
      connection.end(new Error('gone'))
      await assert.rejects(answer, /gone/)
      await assert.rejects(connection.request('b', {}), /gone/)
      connection.notify('c', {})
    })

    it('wait for the reason if the stream ends before it is known', async () => {
      const { pipe, connection } = open()
      const closed = new Promise<Error | undefined>(resolve => connection.onDidClose(resolve))
      const before = connection.request('a', {})
      await pipe.waitForMethod('a')
      pipe.endOutput()
      assert.equal(await closed, undefined)
      const after = connection.request('b', {})
      connection.end(new Error('exit code 3'))
      await assert.rejects(before, /exit code 3/)
      await assert.rejects(after, /exit code 3/)
    })

    it('wait for the reason if the agent stops reading, and its earlier output is still read', async () => {
      const seen: string[] = []
      const { pipe, connection } = open({
        notification: method => {
          seen.push(method)
          return true
        },
      })
      pipe.closeInput()
      const answer = connection.request('a', {})
      answer.catch(() => {})
      await turn()
      pipe.send({ method: 'last/words' })
      pipe.endOutput()
      await new Promise(resolve => connection.onDidClose(resolve))
      assert.deepEqual(seen, ['last/words'])
      connection.end(new Error('closed'))
      await assert.rejects(answer, /closed/)
    })
  })

  describe('requests from the agent', () => {
    it('are answered, with an empty object if there is no result', async () => {
      const { pipe } = open({
        request: (method, params) =>
          method === 'echo'
            ? Promise.resolve({ params })
            : method === 'quiet'
              ? Promise.resolve()
              : undefined,
      })
      pipe.send(
        { id: 'a-1', method: 'echo', params: { x: 1 } },
        { id: 0, method: 'quiet' },
        { id: 7, method: 'toString' },
      )
      assert.deepEqual((await pipe.responseTo('a-1')).result, { params: { x: 1 } })
      assert.deepEqual((await pipe.responseTo(0)).result, {})
      assert.equal((await pipe.responseTo(7)).error?.code, -32601)
    })

    it('are answered with the error that the handler throws', async () => {
      const failures: Record<string, Error> = {
        own: new RpcError(-32602, 'Invalid params', { at: 'path' }),
        other: new Error('disk full'),
        cancelled: new CancelledError(),
      }
      const { pipe } = open({ request: method => Promise.reject(failures[method]) })
      pipe.send({ id: 1, method: 'own' }, { id: 2, method: 'other' }, { id: 3, method: 'cancelled' })
      assert.deepEqual((await pipe.responseTo(1)).error, {
        code: -32602,
        message: 'Invalid params',
        data: { at: 'path' },
      })
      assert.deepEqual((await pipe.responseTo(2)).error, { code: -32603, message: 'disk full' })
      assert.equal((await pipe.responseTo(3)).error?.code, -32800)
    })

    it('are answered even if the handler throws synchronously', async () => {
      const { pipe } = open({
        request: () => {
          throw new Error('at once')
        },
      })
      pipe.send({ id: 1, method: 'a' })
      assert.equal((await pipe.responseTo(1)).error?.message, 'at once')
    })

    it('abort their signal when the agent cancels them, in either form', async () => {
      const { pipe } = open({
        request: (_method, _params, signal) =>
          new Promise(resolve => signal.addEventListener('abort', () => resolve({ withdrawn: true }))),
      })
      pipe.send({ id: 0, method: 'ask' }, { id: 'b', method: 'ask' }, { id: 3, method: 'ask' })
      pipe.send({ method: '$/cancel_request', params: { requestId: 0 } })
      assert.deepEqual((await pipe.responseTo(0)).result, { withdrawn: true })
      pipe.send({ method: '$/cancelRequest', params: { id: 'b' } })
      assert.deepEqual((await pipe.responseTo('b')).result, { withdrawn: true })
      assert.equal(
        pipe.sent.some(frame => frame.id === 3),
        false,
      )
    })

    it('abort their signal when the connection ends', async () => {
      const aborted = new Promise<void>(resolve => {
        const { pipe } = open({
          request: (_method, _params, signal) => {
            signal.addEventListener('abort', () => resolve())
            pipe.endOutput()
            return new Promise(() => {})
          },
        })
        pipe.send({ id: 1, method: 'ask' })
      })
      await aborted
    })

    it('tolerate a cancellation of an unknown request', async () => {
      const { pipe } = open({ request: () => Promise.resolve({}) })
      pipe.send(
        { method: '$/cancel_request' },
        { method: '$/cancelRequest' },
        { method: '$/cancel_request', params: { requestId: 99 } },
        { method: '$/cancel_request', params: [1] },
        { method: '$/progress' },
        { id: 1, method: 'still/there' },
      )
      assert.deepEqual((await pipe.responseTo(1)).result, {})
    })
  })

  describe('notifications from the agent', () => {
    it('are logged once per method if the method is unknown (quirk 4)', async () => {
      const { pipe, connection, log } = open()
      const known = connection.request('a', {})
      await pipe.waitForMethod('a')
      for (let i = 0; i < 500; i++) pipe.send({ method: '_vendor/flood', params: { i } })
      pipe.send({ method: '_vendor/other' }, { id: 0, result: null })
      await known
      assert.deepEqual(
        log.filter(line => line.includes('_vendor')),
        ['_vendor/flood', '_vendor/other'].map(method => `Ignoring the agent's notifications ${method}`),
      )
    })

    it('keep the connection open if their handler throws', async () => {
      const { pipe, log } = open({
        notification: () => {
          throw new Error('handler broke')
        },
        request: () => Promise.resolve({}),
      })
      pipe.send({ method: 'a' }, { id: 1, method: 'b' })
      await pipe.responseTo(1)
      assert.ok(log.some(line => line.includes('handler broke')))
    })
  })

  describe('the order of messages', () => {
    /** A chain of promises, like calls through several layers. */
    const deep = async (steps: number): Promise<void> => {
      for (let i = 0; i < steps; i++) await null
    }

    it("puts a response's continuation between the notifications before and after it", async () => {
      const seen: string[] = []
      const { pipe, connection } = open({
        notification: (_method, params) => {
          seen.push((params as { name: string }).name)
          return true
        },
      })
      const answer = connection.request('session/load', {}).then(async () => {
        await deep(20)
        seen.push('continued')
      })
      await pipe.waitForMethod('session/load')
      pipe.send(
        { method: 'note', params: { name: 'before 1' } },
        { method: 'note', params: { name: 'before 2' } },
        { id: 0, result: null },
        { method: 'note', params: { name: 'after' } },
      )
      await answer
      await turn()
      assert.deepEqual(seen, ['before 1', 'before 2', 'continued', 'after'])
    })

    it('is that of the wire, however the traffic is split', async () => {
      type Step = { type: 'note' | 'answer' | 'ask' | 'batch' }
      const steps = fc.array(fc.constantFrom<Step['type']>('note', 'answer', 'ask', 'batch'), {
        maxLength: 30,
      })
      await fc.assert(
        fc.asyncProperty(steps, fc.array(fc.nat(2000), { maxLength: 6 }), async (kinds, cuts) => {
          const seen: string[] = []
          const { pipe, connection } = open({
            notification: (_method, params) => {
              seen.push(`note ${(params as { n: number }).n}`)
              return true
            },
            request: (_method, params) => {
              seen.push(`ask ${(params as { n: number }).n}`)
              return Promise.resolve({})
            },
          })
          const answers = kinds.filter(kind => kind === 'answer').length
          const pending = Array.from({ length: answers }, (_, id) =>
            connection.request('question', { id }).then(async () => {
              await deep(10)
              seen.push(`answer ${id}`)
            }),
          )
          const expected: string[] = []
          let id = 0
          const lines = kinds.map((kind, n) => {
            if (kind === 'answer') {
              expected.push(`answer ${id}`)
              return { jsonrpc: '2.0', id: id++, result: {} }
            }
            if (kind === 'batch') {
              expected.push(`note ${n}`, `ask ${n}`)
              return [
                { jsonrpc: '2.0', method: 'note', params: { n } },
                { jsonrpc: '2.0', id: `batch-${n}`, method: 'ask', params: { n } },
              ]
            }
            expected.push(`${kind} ${n}`)
            return { jsonrpc: '2.0', ...(kind === 'ask' ? { id: n } : {}), method: kind, params: { n } }
          })
          if (answers > 0) await pipe.waitFor(frame => frame.id === answers - 1)
          const bytes = Buffer.from(lines.map(line => `${JSON.stringify(line)}\n`).join(''))
          const places = [
            0,
            ...cuts.map(cut => Math.min(cut, bytes.length)).sort((a, b) => a - b),
            bytes.length,
          ]
          for (const [i, to] of places.slice(1).entries()) {
            pipe.write(bytes.subarray(places[i], to))
            if (i % 2 === 0) await turn()
          }
          pipe.endOutput()
          await new Promise(resolve => connection.onDidClose(resolve))
          await Promise.all(pending)
          assert.deepEqual(seen, expected)
        }),
      )
    })

    it('closes only after everything before the end was handled', async () => {
      const seen: string[] = []
      const { pipe, connection } = open({ notification: method => Boolean(seen.push(method)) })
      const answer = connection.request('a', {}).then(() => seen.push('answered'))
      await pipe.waitForMethod('a')
      pipe.send({ method: 'one' }, { id: 0, result: 1 }, { method: 'two' }, { method: 'three' })
      pipe.endOutput()
      await new Promise(resolve => connection.onDidClose(resolve))
      await answer
      assert.deepEqual(seen, ['one', 'answered', 'two', 'three'])
    })
  })

  it('closes with a clear error if a frame exceeds the limit', async () => {
    const { pipe, connection } = open({}, new MemoryPipe(1000))
    const closed = new Promise<Error | undefined>(resolve => connection.onDidClose(resolve))
    pipe.write('x'.repeat(1001))
    const error = await closed
    assert.ok(error instanceof LineTooLongError)
    assert.match(error.message, /more than 1000 bytes/)
  })

  it('reports every frame to the listener until it stops listening', async () => {
    const { pipe, connection, tap } = open({
      notification: () => true,
      request: () => Promise.resolve({ ok: 1 }),
    })
    const frames: TraceFrame[] = []
    pipe.send({ method: 'unheard' })
    await turn()
    tap.current = frame => frames.push(frame)
    const answer = connection.request('a', { x: 1 })
    await pipe.waitForMethod('a')
    pipe.send({ method: 'b' }, { id: 0, result: null }, { id: 9, method: 'c' })
    await answer
    await pipe.responseTo(9)
    tap.current = undefined
    connection.notify('d', {})
    await pipe.waitForMethod('d')
    assert.deepEqual(
      frames.map(({ direction, message }) => [
        direction,
        (message as { method?: string; id?: number }).method ?? 'answer',
      ]),
      [
        ['send', 'a'],
        ['receive', 'b'],
        ['receive', 'answer'],
        ['receive', 'c'],
        ['send', 'answer'],
      ],
    )
    assert.ok(frames.every(frame => Math.abs(frame.at - Date.now()) < 60_000))
  })

  it('accepts any JSON from the agent', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.json(),
            fc
              .record(
                {
                  jsonrpc: fc.constant('2.0'),
                  id: fc.oneof(fc.nat(3), fc.string(), fc.constant(null), fc.jsonValue()),
                  method: fc.oneof(
                    fc.constantFrom('a', '$/cancelRequest', '$/progress', '$/logTrace'),
                    fc.jsonValue(),
                  ),
                  params: fc.jsonValue(),
                  result: fc.jsonValue(),
                  error: fc.jsonValue(),
                },
                { requiredKeys: [] },
              )
              .map(value => JSON.stringify(value)),
          ),
        ),
        async lines => {
          const { pipe, connection } = open({ notification: () => true, request: async () => ({}) })
          const pending = [connection.request('x', {}), connection.request('y', {})]
          for (const request of pending) request.catch(() => {})
          pipe.write(lines.map(line => `${line}\n`).join(''))
          pipe.send({ id: 'the end', method: 'there?' })
          assert.deepEqual((await pipe.responseTo('the end')).result, {})
          connection.end(new Error('over'))
        },
      ),
    )
  })

  it('works without a logger', () => {
    const pipe = new MemoryPipe()
    const handlers: ConnectionHandlers = { notification: () => true, request: () => undefined }
    new Connection({ reader: pipe.reader, writer: pipe.writer, handlers, log: silentLogger }).dispose()
  })
})
