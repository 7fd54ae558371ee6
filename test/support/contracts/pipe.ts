import assert from 'node:assert/strict'
import { WriterClosedError } from '../../../src/acp/transport/ndjson-writer.ts'
import type { WireMessage } from '../../../src/acp/transport/ordered-reader.ts'
import { messageOf } from '../../../src/common/errors.ts'
import type { MemoryPipe } from '../memory-pipe.ts'
import { until } from '../until.ts'

/** Parley's ends of an agent's input and output, and functions that act as the agent at the other ends. */
export type PipeUnderTest = Pick<
  MemoryPipe,
  'reader' | 'writer' | 'sent' | 'noise' | 'send' | 'write' | 'endOutput' | 'closeInput' | 'waitFor'
>

/** The contract of a process's pipes and of their fakes. */
export function pipeContract(create: () => PipeUnderTest): void {
  const listening = () => {
    const pipe = create()
    const got: WireMessage[] = []
    pipe.reader.listen(message => got.push(message as WireMessage))
    return { pipe, got, methods: () => got.map(message => ('method' in message ? message.method : '?')) }
  }

  it('reads messages in order, however the agent writes them', async () => {
    const { pipe, methods } = listening()
    pipe.send({ method: 'a' }, { method: 'b' })
    const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method: 'żółć' })}\n`)
    // in the middle of a character
    const cut = bytes.indexOf(Buffer.from('ó')) + 1
    pipe.write(bytes.subarray(0, cut))
    pipe.write('')
    pipe.write(bytes.subarray(cut))
    pipe.send({ method: 'c', params: { text: 'x'.repeat(300_000) } })
    await until(() => methods().includes('c'))
    assert.deepEqual(methods(), ['a', 'b', 'żółć', 'c'])
  })

  it("separates lines that aren't messages", async () => {
    const { pipe, methods } = listening()
    pipe.write('Starting…\n\n')
    pipe.send({ method: 'a' })
    await until(() => methods().length > 0)
    assert.deepEqual(pipe.noise, ['Starting…'])
  })

  it("loses nothing that arrives while it's paused", async () => {
    const { pipe, methods } = listening()
    pipe.send({ method: 'a' })
    await until(() => methods().length === 1)
    pipe.reader.pause()
    pipe.send(
      ...Array.from({ length: 100 }, (_, i) => ({ method: `b${i}`, params: { text: 'x'.repeat(1000) } })),
    )
    pipe.reader.resume()
    await until(() => methods().length === 101)
    assert.equal(methods().at(-1), 'b99')
  })

  it('writes messages in order', async () => {
    const { pipe } = listening()
    const text = 'żółć'.repeat(50_000)
    const written = ['a', 'b', 'c'].map(method => {
      const message = { jsonrpc: '2.0', method, params: { text } }
      return pipe.writer.write(message)
    })
    const last = await pipe.waitFor(frame => frame.method === 'c')
    await Promise.all(written)
    assert.equal(last.params.text, text)
    assert.deepEqual(
      pipe.sent.map(({ method }) => method),
      ['a', 'b', 'c'],
    )
  })

  it('ends reading after the last message if the agent ends its output, and can still write', async () => {
    const { pipe, methods } = listening()
    let open = true
    pipe.reader.onClose(() => {
      open = false
    })
    pipe.send({ method: 'a' })
    pipe.endOutput()
    await until(() => !open)
    assert.deepEqual(methods(), ['a'])
    await pipe.writer.write({ jsonrpc: '2.0' })
    await pipe.waitFor(frame => frame.method === undefined)
  })

  it('rejects a write after the agent closed its input, with the reason', async () => {
    const { pipe, methods } = listening()
    const errors: string[] = []
    let open = true
    pipe.writer.onError(([error]) => errors.push(messageOf(error)))
    pipe.writer.onClose(() => {
      open = false
    })
    await pipe.writer.write({ jsonrpc: '2.0' })
    await pipe.waitFor(() => true)
    pipe.closeInput()
    // as a process reports it
    pipe.send({ method: 'closed' })
    await until(() => methods().includes('closed'))
    await pipe.writer.write({ jsonrpc: '2.0' }).catch(() => {})
    await until(() => !open)
    assert.match(errors.join(), /EPIPE/)
    await assert.rejects(pipe.writer.write({ jsonrpc: '2.0' }), WriterClosedError)
    pipe.send({ method: 'b' })
    await until(() => methods().includes('b'))
  })
}
