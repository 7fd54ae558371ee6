import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { LineSplitter } from '../../../src/acp/transport/line-splitter.ts'
import { NdjsonReader } from '../../../src/acp/transport/ndjson-reader.ts'
import { NdjsonWriter } from '../../../src/acp/transport/ndjson-writer.ts'
import { type PipeUnderTest, pipeContract } from '../../support/contracts/pipe.ts'
import { type Frame, MemoryPipe } from '../../support/memory-pipe.ts'
import { until } from '../../support/until.ts'

describe('the in-memory pipe', () => {
  pipeContract(() => new MemoryPipe())
})

/** A process that uses its input and output as it's told through another channel, and reports what it reads. */
const PUPPET = `
  const { closeSync, writeSync } = require('node:fs')
  process.on('message', ({ write, end, close }) => {
    if (write !== undefined) {
      const bytes = Buffer.from(write, 'base64')
      for (let at = 0; at < bytes.length; ) {
        try { at += writeSync(1, bytes, at) } catch (error) { if (error.code !== 'EAGAIN') throw error }
      }
    }
    if (end) closeSync(1)
    if (close) {
      process.stdin.destroy()
      // closing a stream isn't enough, since libuv keeps the standard streams open
      closeSync(0)
    }
  })
  process.stdin.on('data', bytes => process.send(bytes.toString('base64')))
`

describe('the pipes of a process', () => {
  const started: ChildProcess[] = []
  afterEach(async () => {
    for (const child of started.splice(0)) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
  })

  pipeContract((): PipeUnderTest => {
    const child = spawn(process.execPath, ['-e', PUPPET], { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] })
    started.push(child)
    const sent: Frame[] = []
    const noise: string[] = []
    const lines = new LineSplitter(64 << 20)
    child.on('message', (bytes: string) => {
      lines.push(Buffer.from(bytes, 'base64'))
      for (let line = lines.next(); line !== undefined; line = lines.next()) sent.push(JSON.parse(line))
    })
    const write = (piece: string | Uint8Array) => {
      child.send({ write: Buffer.from(piece).toString('base64') })
    }
    return {
      reader: new NdjsonReader(child.stdout!, { maxFrameBytes: 1 << 20, onNoise: line => noise.push(line) }),
      writer: new NdjsonWriter(child.stdin!),
      sent,
      noise,
      write,
      send: (...messages) =>
        write(messages.map(message => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')),
      endOutput: () => void child.send({ end: true }),
      closeInput: () => void child.send({ close: true }),
      waitFor: async match => {
        await until(() => sent.some(match))
        return sent.find(match)!
      },
    }
  })
})
